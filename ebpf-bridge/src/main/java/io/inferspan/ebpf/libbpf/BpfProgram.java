package io.inferspan.ebpf.libbpf;

import static io.inferspan.ebpf.libbpf.LibbpfFunction.BPF_PROGRAM__ATTACH;
import static io.inferspan.ebpf.libbpf.LibbpfFunction.BPF_PROGRAM__ATTACH_UPROBE_OPTS;
import static io.inferspan.ebpf.libbpf.LibbpfFunction.BPF_PROGRAM__ATTACH_USDT;
import static io.inferspan.ebpf.libbpf.LibbpfFunction.BPF_PROGRAM__FD;
import static io.inferspan.ebpf.libbpf.LibbpfFunction.BPF_PROGRAM__NAME;
import static io.inferspan.ebpf.libbpf.LibbpfFunction.BPF_PROGRAM__SECTION_NAME;
import static io.inferspan.ebpf.libbpf.LibbpfFunction.BPF_PROGRAM__SET_EXPECTED_ATTACH_TYPE;
import static java.lang.foreign.ValueLayout.JAVA_BOOLEAN;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.inferspan.ebpf.libbpf.BpfCommand.Arguments;
import io.inferspan.ebpf.libbpf.UprobeTarget.Site;
import io.inferspan.ebpf.linux.Errno;
import io.inferspan.ebpf.linux.FileDescriptor;
import io.inferspan.ebpf.linux.LastError;
import io.inferspan.ebpf.linux.Memory;
import io.inferspan.ebpf.linux.SystemView;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A program of a BPF object. It is loaded with the object and attached separately. */
public final class BpfProgram {

  private static final int AT_RETURN = 1;
  private static final int UPROBE_OPTIONS_BYTES = 40;
  private static final int USDT_OPTIONS_BYTES = 16;
  private static final int EVERY_PROCESS_TO_LIBBPF = -1;

  private final Libbpf libbpf;
  private final long address;
  private final String name;
  private final String section;
  private UprobeMode mode = UprobeMode.PERF;

  BpfProgram(Libbpf libbpf, long address) {
    this.libbpf = libbpf;
    this.address = address;
    this.name = Memory.string(libbpf.callLong(BPF_PROGRAM__NAME, address));
    this.section = Memory.string(libbpf.callLong(BPF_PROGRAM__SECTION_NAME, address));
  }

  /** Returns its name in the object. */
  public String name() {
    return name;
  }

  /** Returns the file descriptor of the loaded program, which belongs to the object. */
  public int fd() {
    int fd = libbpf.callInt(BPF_PROGRAM__FD, address);
    if (fd < 0) {
      throw new IllegalStateException("program " + name + " is not loaded");
    }
    return fd;
  }

  /**
   * Binds a map to the program, so that the kernel lists it with the program's maps although the
   * program does not use it.
   */
  public void bind(BpfMap map) {
    try (Arena arena = Arena.ofConfined()) {
      long result =
          BpfCommand.PROG_BIND_MAP.call(Arguments.in(arena).word(0, fd()).word(4, map.fd()));
      if (Errno.isError(result)) {
        throw refusal((int) -result, "").ofAttaching("map " + map.name() + " to program " + name);
      }
    }
  }

  /** Returns the name of its ELF section, which determines its type. */
  public String section() {
    return section;
  }

  long address() {
    return address;
  }

  /**
   * Sets how the program will be attached to functions. Must be called before the object is loaded.
   */
  public BpfProgram via(UprobeMode chosen) {
    libbpf.callInt(BPF_PROGRAM__SET_EXPECTED_ATTACH_TYPE, address, chosen.attachType());
    mode = chosen;
    return this;
  }

  /** Attaches the program to the target that its section name contains. */
  public BpfLink attach() {
    try (LibbpfMessages messages = LibbpfMessages.listen()) {
      long link = libbpf.callLong(BPF_PROGRAM__ATTACH, address);
      if (link == 0) {
        throw refusal(LastError.errno(), messages.text()).ofAttaching(name);
      }
      return BpfLink.made(libbpf, link);
    }
  }

  /** Attaches the program to timers that run it {@code frequency} times per second on each CPU. */
  public BpfLink attachTimer(int frequency) {
    return CpuTimer.attach(
        fd(),
        frequency,
        libbpf.possibleCpus(),
        errno -> refusal(errno, "").ofAttaching(name + " to a timer on each CPU"));
  }

  /**
   * Attaches the program to all functions of the target. If one cannot be attached, detaches the
   * others and throws.
   */
  public BpfLink attachUprobes(UprobeTarget target) {
    return mode == UprobeMode.PERF ? onePerFunction(target) : oneForAll(target);
  }

  /**
   * Attaches the program, in every process, to a USDT probe that a file defines in {@code
   * .note.stapsdt}.
   *
   * <p>libbpf reads the file's notes, and stores the locations of the arguments in maps of the
   * program's object. It opens a perf event for each location, which needs CAP_SYS_ADMIN.
   */
  public BpfLink attachUsdt(Path file, String provider, String point, long cookie) {
    try (Arena arena = Arena.ofConfined();
        LibbpfMessages messages = LibbpfMessages.listen()) {
      MemorySegment options = arena.allocate(USDT_OPTIONS_BYTES, Long.BYTES);
      options.set(JAVA_LONG, 0, USDT_OPTIONS_BYTES);
      options.set(JAVA_LONG, 8, cookie);
      long link =
          libbpf.callLong(
              BPF_PROGRAM__ATTACH_USDT,
              address,
              EVERY_PROCESS_TO_LIBBPF,
              arena.allocateFrom(file.toString()).address(),
              arena.allocateFrom(provider).address(),
              arena.allocateFrom(point).address(),
              options.address());
      if (link == 0) {
        String what = name + " to " + provider + ":" + point + " of " + file;
        throw refusal(LastError.errno(), messages.text()).ofAttaching(what);
      }
      return BpfLink.made(libbpf, link);
    }
  }

  /**
   * Returns the program's runs since it was loaded, as far as run statistics were {@linkplain
   * RunStats#enable enabled}.
   */
  public RunStats runs() {
    return RunStats.of(fd(), name);
  }

  /** Runs a program of type {@code syscall} once; returns its result. */
  public int run(MemorySegment context) {
    try (Arena arena = Arena.ofConfined()) {
      Arguments arguments =
          Arguments.in(arena).word(0, fd()).word(40, (int) context.byteSize()).pointer(48, context);
      long result = BpfCommand.PROG_RUN.call(arguments);
      if (Errno.isError(result)) {
        throw refusal((int) -result, "").ofRunning(name);
      }
      return arguments.wordAt(4);
    }
  }

  private BpfLink oneForAll(UprobeTarget target) {
    List<Site> sites = target.sites();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment offsets = arena.allocate(JAVA_LONG, sites.size());
      MemorySegment cookies = arena.allocate(JAVA_LONG, sites.size());
      for (int i = 0; i < sites.size(); i++) {
        offsets.setAtIndex(JAVA_LONG, i, sites.get(i).fileOffset());
        cookies.setAtIndex(JAVA_LONG, i, sites.get(i).cookie());
      }
      Arguments arguments =
          Arguments.in(arena)
              .word(0, fd())
              .word(8, mode.attachType())
              .pointer(16, arena.allocateFrom(target.library().toString()))
              .pointer(24, offsets)
              .pointer(40, cookies)
              .word(48, sites.size())
              .word(52, target.atReturn() && mode == UprobeMode.MULTI ? AT_RETURN : 0)
              .word(56, target.pid());
      long result = BpfCommand.LINK_CREATE.call(arguments);
      if (Errno.isError(result)) {
        throw refusal((int) -result, "").ofAttaching(name + " to " + target.library());
      }
      return BpfLink.open(new FileDescriptor((int) result));
    }
  }

  private BpfLink onePerFunction(UprobeTarget target) {
    List<BpfLink> links = new ArrayList<>();
    try {
      target.sites().forEach(site -> links.add(perfEvent(target, site)));
    } catch (BpfException refused) {
      links.forEach(BpfLink::close);
      throw refused;
    }
    return BpfLink.all(links);
  }

  private BpfLink perfEvent(UprobeTarget target, Site site) {
    boolean everyProcess = target.pid() == UprobeTarget.EVERY_PROCESS;
    try (Arena arena = Arena.ofConfined();
        LibbpfMessages messages = LibbpfMessages.listen()) {
      MemorySegment options = arena.allocate(UPROBE_OPTIONS_BYTES, Long.BYTES);
      options.set(JAVA_LONG, 0, UPROBE_OPTIONS_BYTES);
      options.set(JAVA_LONG, 16, site.cookie());
      options.set(JAVA_BOOLEAN, 24, target.atReturn());
      long link =
          libbpf.callLong(
              BPF_PROGRAM__ATTACH_UPROBE_OPTS,
              address,
              everyProcess ? EVERY_PROCESS_TO_LIBBPF : target.pid(),
              arena.allocateFrom(target.library().toString()).address(),
              site.fileOffset(),
              options.address());
      if (link == 0) {
        throw refusal(LastError.errno(), messages.text())
            .ofAttaching(name + " to " + target.library());
      }
      return BpfLink.made(libbpf, link);
    }
  }

  private Refusal refusal(int errno, String messages) {
    return Refusal.of(name, section, errno, messages, SystemView.live());
  }
}
