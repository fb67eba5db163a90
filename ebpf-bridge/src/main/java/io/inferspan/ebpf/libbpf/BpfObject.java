package io.inferspan.ebpf.libbpf;

import static io.inferspan.ebpf.libbpf.LibbpfFunction.BPF_MAP__FD;
import static io.inferspan.ebpf.libbpf.LibbpfFunction.BPF_MAP__KEY_SIZE;
import static io.inferspan.ebpf.libbpf.LibbpfFunction.BPF_MAP__REUSE_FD;
import static io.inferspan.ebpf.libbpf.LibbpfFunction.BPF_MAP__SET_MAX_ENTRIES;
import static io.inferspan.ebpf.libbpf.LibbpfFunction.BPF_MAP__TYPE;
import static io.inferspan.ebpf.libbpf.LibbpfFunction.BPF_MAP__VALUE_SIZE;
import static io.inferspan.ebpf.libbpf.LibbpfFunction.BPF_OBJECT__CLOSE;
import static io.inferspan.ebpf.libbpf.LibbpfFunction.BPF_OBJECT__FIND_MAP_BY_NAME;
import static io.inferspan.ebpf.libbpf.LibbpfFunction.BPF_OBJECT__LOAD;
import static io.inferspan.ebpf.libbpf.LibbpfFunction.BPF_OBJECT__NEXT_PROGRAM;
import static io.inferspan.ebpf.libbpf.LibbpfFunction.BPF_OBJECT__OPEN_MEM;
import static io.inferspan.ebpf.libbpf.LibbpfFunction.BPF_PROGRAM__SET_AUTOLOAD;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.inferspan.ebpf.libbpf.BpfCommand.Arguments;
import io.inferspan.ebpf.linux.Errno;
import io.inferspan.ebpf.linux.LastError;
import io.inferspan.ebpf.linux.Mapping;
import io.inferspan.ebpf.linux.SystemView;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A file of BPF programs and maps: opened, adjusted, loaded into the kernel, and closed.
 *
 * <p>Not thread-safe. Closing it removes its maps and programs from the kernel, unless a link or
 * another object holds them: close links first.
 */
public final class BpfObject implements AutoCloseable {

  /** The size of {@code struct bpf_object_open_opts} up to the last field of libbpf 1.0. */
  private static final int OPTIONS_BYTES = 80;

  /**
   * The size of the verifier's log: the maximum that the oldest supported kernels accept. Only the
   * part that is written uses memory.
   */
  private static final int LOG_BYTES = 8 << 20;

  private final Libbpf libbpf = Libbpf.load();
  private final String name;
  private final Arena arena = Arena.ofShared();
  private final Mapping log = Mapping.anonymous(LOG_BYTES);
  private final Map<String, BpfProgram> programs = new LinkedHashMap<>();
  private final Map<String, BpfMap> maps = new HashMap<>();
  private long object;

  private BpfObject(String name) {
    this.name = name;
  }

  /** Parses an object file; loads nothing into the kernel. */
  public static BpfObject open(String name, byte[] elf) {
    BpfObject opened = new BpfObject(name);
    try {
      opened.read(elf);
    } catch (RuntimeException | Error failed) {
      opened.close();
      throw failed;
    }
    return opened;
  }

  /** Replaces this object's map of that name with a map of another object. */
  public BpfObject share(String map, BpfMap with) {
    long own = mapAddress(map);
    // libbpf would accept another key or value size, and the programs would read wrong memory.
    if (libbpf.callInt(BPF_MAP__TYPE, own) != with.type()
        || libbpf.callInt(BPF_MAP__KEY_SIZE, own) != with.keySize()
        || libbpf.callInt(BPF_MAP__VALUE_SIZE, own) != with.valueSize()) {
      throw new IllegalArgumentException(
          "map "
              + map
              + " of object "
              + name
              + " has another type, key size or value size than "
              + with.name());
    }
    require(libbpf.callInt(BPF_MAP__REUSE_FD, own, with.fd()), "share map " + map);
    // From now on, libbpf finds the map only by the other map's name.
    maps.put(map, with);
    return this;
  }

  /** Returns whether the object has a map of that name. */
  public boolean hasMap(String map) {
    try (Arena names = Arena.ofConfined()) {
      return libbpf.callLong(
              BPF_OBJECT__FIND_MAP_BY_NAME, object, names.allocateFrom(map).address())
          != 0;
    }
  }

  /** Sets the number of entries of a map, or the bytes of a ring buffer. */
  public BpfObject resize(String map, int entries) {
    require(
        libbpf.callInt(BPF_MAP__SET_MAX_ENTRIES, mapAddress(map), entries), "resize map " + map);
    return this;
  }

  /** Sets whether a program is loaded with its object. */
  public BpfObject autoload(String program, boolean wanted) {
    long address = program(program).address();
    require(
        libbpf.callInt(BPF_PROGRAM__SET_AUTOLOAD, address, wanted ? 1 : 0),
        "select program " + program);
    return this;
  }

  /** Loads the maps and the selected programs into the kernel. */
  public BpfObject load() {
    try (LibbpfMessages messages = LibbpfMessages.listen()) {
      int result = libbpf.callInt(BPF_OBJECT__LOAD, object);
      if (result < 0) {
        throw refusal(-result, messages).ofLoading();
      }
    }
    return this;
  }

  /** Returns a map of the loaded object. */
  public BpfMap map(String map) {
    return maps.computeIfAbsent(
        map, wanted -> new BpfMap(libbpf, wanted, libbpf.callInt(BPF_MAP__FD, mapAddress(wanted))));
  }

  /** Returns a program of the object. */
  public BpfProgram program(String program) {
    BpfProgram found = programs.get(program);
    if (found == null) {
      throw new IllegalArgumentException(
          "object " + name + " has no program " + program + ", only " + programs.keySet());
    }
    return found;
  }

  /** Returns all programs of the object, in the order of its file. */
  public List<BpfProgram> programs() {
    return List.copyOf(programs.values());
  }

  @Override
  public void close() {
    if (object != 0) {
      libbpf.callInt(BPF_OBJECT__CLOSE, object);
      object = 0;
    }
    if (arena.scope().isAlive()) {
      arena.close();
    }
    log.close();
  }

  /** Reads the kernel's info structure of a map, program or link. */
  public static void describe(int fd, MemorySegment info, String what) {
    try (Arena arena = Arena.ofConfined()) {
      Arguments arguments =
          Arguments.in(arena).word(0, fd).word(4, (int) info.byteSize()).pointer(8, info);
      long result = BpfCommand.OBJ_GET_INFO_BY_FD.call(arguments);
      if (Errno.isError(result)) {
        throw new BpfException(
            "the kernel does not describe " + what + ": " + Errno.describe((int) -result), "", "");
      }
    }
  }

  private void read(byte[] elf) {
    MemorySegment file = arena.allocateFrom(JAVA_BYTE, elf);
    try (LibbpfMessages messages = LibbpfMessages.listen()) {
      object =
          libbpf.callLong(BPF_OBJECT__OPEN_MEM, file.address(), elf.length, options().address());
      if (object == 0) {
        throw refusal(LastError.errno(), messages).ofOpening();
      }
    }
    addPrograms();
  }

  private MemorySegment options() {
    MemorySegment options = arena.allocate(OPTIONS_BYTES, Long.BYTES);
    options.set(JAVA_LONG, 0, OPTIONS_BYTES);
    options.set(JAVA_LONG, 8, arena.allocateFrom(name).address());
    options.set(JAVA_LONG, 56, log.memory().address());
    options.set(JAVA_LONG, 64, LOG_BYTES);
    return options;
  }

  private void addPrograms() {
    long address = 0;
    while ((address = libbpf.callLong(BPF_OBJECT__NEXT_PROGRAM, object, address)) != 0) {
      BpfProgram program = new BpfProgram(libbpf, address);
      programs.put(program.name(), program);
    }
  }

  private long mapAddress(String map) {
    try (Arena names = Arena.ofConfined()) {
      long address =
          libbpf.callLong(BPF_OBJECT__FIND_MAP_BY_NAME, object, names.allocateFrom(map).address());
      if (address == 0) {
        throw new IllegalArgumentException("object " + name + " has no map " + map);
      }
      return address;
    }
  }

  private void require(int result, String attempt) {
    if (result < 0) {
      throw new BpfException(
          "libbpf could not " + attempt + " of object " + name + ": " + Errno.describe(-result),
          "",
          "");
    }
  }

  private Refusal refusal(int errno, LibbpfMessages messages) {
    Map<String, String> sections = new HashMap<>();
    programs.forEach((program, known) -> sections.put(program, known.section()));
    String verifier = log.memory().getString(0);
    return new Refusal(name, errno, messages.text(), verifier, sections, SystemView.live());
  }
}
