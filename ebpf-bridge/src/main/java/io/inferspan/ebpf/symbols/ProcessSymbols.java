package io.inferspan.ebpf.symbols;

import io.inferspan.ebpf.elf.CallFrame;
import io.inferspan.ebpf.elf.ElfFunctions;
import io.inferspan.ebpf.elf.Instruction;
import io.inferspan.ebpf.symbols.MemoryMap.FileId;
import io.inferspan.ebpf.symbols.MemoryMap.Region;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Resolves addresses in one process to functions. */
final class ProcessSymbols {

  private static final int MAX_MAPPINGS = 65_536;
  private static final Pattern PYTHON =
      Pattern.compile("(?:lib)?python3\\.([0-9]{1,2})(?:\\.so.*)?");
  private static final String PYTHON_3_11 = "python3.11";

  /** The minor version of Python 3 whose functions are read from the interpreter's state. */
  private static final int READ_PYTHON = 11;

  private static final String DELETED = " (deleted)";

  /** The minimum time after which an unknown address causes the mappings to be read again. */
  private static final long REREAD_NANOS = 100_000_000;

  private static final int STACK_FIELD = 28;
  private static final String MOUNT_NAMESPACE = mountNamespace(Path.of("/proc/self"));

  private final Path process;
  private final long stack;
  private final ElfCache files;
  private final PerfMap compiled;
  private List<String> mapLines = List.of();
  private @Nullable MemoryMap map;
  private long readNanos = System.nanoTime() - 2 * REREAD_NANOS;
  private boolean hasNewRustNames;

  /**
   * Creates an instance for a process.
   *
   * @param stack identifies the program that the process must still run, by the address of its
   *     stack; 0 for any program
   */
  ProcessSymbols(Path process, long stack, ElfCache files) {
    this.process = process;
    this.stack = stack;
    this.files = files;
    this.compiled =
        new PerfMap(process.resolve("root/tmp/perf-" + pidInNamespace(process) + ".map"));
  }

  private void refresh() {
    readNanos = System.nanoTime();
    List<String> now = lines(process.resolve("maps"));
    if (!now.isEmpty() && runs()) {
      mapLines = now;
      map = null;
      compiled.refresh();
    }
  }

  /** Parses the map on first use, because most processes are never resolved. */
  private MemoryMap map() {
    MemoryMap known = map;
    if (known == null) {
      known = MemoryMap.of(mapLines);
      map = known;
      mapLines = List.of();
    }
    return known;
  }

  /**
   * Remembers the current mappings, for addresses that are looked up after the process has exited.
   */
  void remember() {
    refresh();
    if (!mountNamespace(process).equals(MOUNT_NAMESPACE)) {
      // The files can only be opened through the process, so they are read before it exits.
      map().regions().stream()
          .filter(region -> region.path().startsWith("/"))
          .forEach(this::functions);
    }
  }

  /** Reads the perf map again if it has changed. */
  void refreshCompiled() {
    if (runs()) {
      compiled.refresh();
    }
  }

  /** Returns whether the process still runs this program. */
  private boolean runs() {
    return stack == 0 || stack == stack(process);
  }

  /** Returns the address of the stack of a process's current program; 0 if unknown. */
  static long stack(Path process) {
    // The process name before these fields may contain any character.
    return lines(process.resolve("stat")).stream()
        .map(line -> line.substring(line.lastIndexOf(')') + 1).split(" "))
        .filter(fields -> fields.length > STACK_FIELD - 2)
        .mapToLong(fields -> Long.parseUnsignedLong(fields[STACK_FIELD - 2]))
        .findFirst()
        .orElse(0);
  }

  /** Reads the mappings again if they lack an address that will be resolved later. */
  void remember(long address) {
    if (map().at(address) == null && System.nanoTime() - readNanos > REREAD_NANOS) {
      refresh();
    }
  }

  String at(long address) {
    String name = known(address);
    if (name == null && System.nanoTime() - readNanos > REREAD_NANOS) {
      refresh();
      name = known(address);
    }
    return name == null ? "0x" + Long.toHexString(address) : name;
  }

  /** Returns the frame of a function at an instruction. */
  CallFrame frame(Instruction instruction) {
    long address = instruction.address();
    Region region = map().at(address);
    if (region != null && region.path().startsWith("/")) {
      ElfFunctions functions = functions(region);
      if (functions != null) {
        return functions.frame(address - region.start() + region.offset(), instruction);
      }
    }
    boolean compiled =
        region == null || region.path().isEmpty() || this.compiled.at(address) != null;
    return compiled ? instruction.ofCompiledCode() : CallFrame.UNKNOWN;
  }

  /** Returns whether threads or programs start in the function at an address. */
  boolean isRoot(long address) {
    Region region = map().at(address);
    if (region == null || !region.path().startsWith("/")) {
      return false;
    }
    ElfFunctions functions = functions(region);
    return functions != null && functions.isRoot(address - region.start() + region.offset());
  }

  /**
   * Returns the address of the interpreter state of Python 3.11; 0 if the process does not map it.
   */
  long pythonRuntime() {
    if (mapLines.stream().noneMatch(line -> line.contains(PYTHON_3_11)) && map == null) {
      return 0;
    }
    for (Region region : map().regions()) {
      if (fileName(region.path()).matches("(lib)?python3\\.11(\\.so.*)?")) {
        ElfFunctions functions = functions(region);
        if (functions != null && functions.pythonRuntime() != 0) {
          return region.start() - functions.address(region.offset()) + functions.pythonRuntime();
        }
      }
    }
    return 0;
  }

  /** Returns the reasons why functions of the process have no plain names. */
  List<String> missing() {
    if (map().regions().isEmpty()) {
      refresh();
    }
    List<String> missing = new ArrayList<>();
    if (!compiled.exists()) {
      map().regions().stream()
          .map(region -> runtime(fileName(region.path())))
          .filter(Objects::nonNull)
          .findFirst()
          .ifPresent(missing::add);
    }
    if (hasNewRustNames) {
      missing.add(
          "has Rust names in v0 mangling (_R…), which is not supported: pass folded text through"
              + " rustfilt or c++filt");
    }
    return missing;
  }

  /** Returns why functions of a runtime have no names; null if the file is not such a runtime. */
  private static @Nullable String runtime(String file) {
    Matcher python = PYTHON.matcher(file);
    if (python.matches()) {
      int minor = Integer.parseInt(python.group(1));
      if (minor == READ_PYTHON) {
        return null;
      }
      return "runs Python 3.%d: its functions are %s"
          .formatted(
              minor,
              minor < READ_PYTHON
                  ? "not supported, only those of 3.11 and newer"
                  : "not known without -X perf");
    }
    return file.equals("libjvm.so")
        ? "runs a JVM: its compiled functions are not known without jcmd Compiler.perfmap"
        : null;
  }

  private @Nullable String known(long address) {
    Region region = map().at(address);
    if (region == null || !region.path().startsWith("/")) {
      String name = compiled.at(address);
      return name != null || region == null || !region.path().startsWith("[")
          ? name
          : inModule(region.path(), address - region.start());
    }
    long offset = address - region.start() + region.offset();
    ElfFunctions functions = functions(region);
    if (functions == null) {
      // A runtime may keep its code in a file, such as shared memory.
      String name = compiled.at(address);
      return name == null ? inModule(fileName(region.path()), offset) : name;
    }
    String name = functions.at(offset);
    if (name == null) {
      return inModule(fileName(region.path()), functions.address(offset));
    }
    hasNewRustNames |= Names.isNewRust(name);
    return Names.plain(name);
  }

  private @Nullable ElfFunctions functions(Region region) {
    return files.of(region.file(), reachable(region), process.resolve("root"));
  }

  private static String inModule(String module, long address) {
    return module + "+0x" + Long.toHexString(address);
  }

  /** Returns the file name of a mapping, even if the file was deleted. */
  private static String fileName(String path) {
    String whole =
        path.endsWith(DELETED) ? path.substring(0, path.length() - DELETED.length()) : path;
    return whole.substring(whole.lastIndexOf('/') + 1);
  }

  /**
   * Returns a path to a mapped file: in the process's mount namespace; in this process's namespace
   * if the process has exited; or in {@code map_files} if the path now leads to another file.
   */
  private Path reachable(Region region) {
    return Stream.of(process.resolve("root" + region.path()), Path.of(region.path()))
        .filter(path -> isFile(path, region.file()))
        .findFirst()
        .orElse(process.resolve("map_files/" + region.range()));
  }

  private static boolean isFile(Path path, FileId file) {
    try {
      return ((Number) Files.getAttribute(path, "unix:ino")).longValue() == file.inode();
    } catch (IOException | UnsupportedOperationException | IllegalArgumentException replaced) {
      return false;
    }
  }

  private static String mountNamespace(Path process) {
    try {
      return Files.readSymbolicLink(process.resolve("ns/mnt")).toString();
    } catch (IOException gone) {
      return MOUNT_NAMESPACE;
    }
  }

  /**
   * Returns the pid in the process's own PID namespace, which is part of the name of its perf map.
   */
  private static String pidInNamespace(Path process) {
    return lines(process.resolve("status")).stream()
        .filter(line -> line.startsWith("NSpid:"))
        .map(line -> line.substring(line.lastIndexOf('\t') + 1).strip())
        .findFirst()
        .orElse(String.valueOf(process.getFileName()));
  }

  private static List<String> lines(Path file) {
    try (Stream<String> lines = Files.lines(file, StandardCharsets.ISO_8859_1)) {
      return lines.limit(MAX_MAPPINGS).toList();
    } catch (IOException | UncheckedIOException gone) {
      return List.of();
    }
  }
}
