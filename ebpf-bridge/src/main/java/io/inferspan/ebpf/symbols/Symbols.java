package io.inferspan.ebpf.symbols;

import io.inferspan.ebpf.elf.CallFrame;
import io.inferspan.ebpf.elf.Instruction;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Resolves addresses in the processes of this machine, and in its kernel, to functions.
 *
 * <p>For a process that has exited, only addresses in mappings that were {@linkplain #remember
 * remembered} before can be resolved. Not thread-safe.
 */
public final class Symbols {

  private static final int MAX_PROCESSES = 512;
  private static final long MAX_ELF_BYTES = 128L << 20;

  private final Path proc;
  private final ElfCache files = new ElfCache(MAX_ELF_BYTES);
  private final Map<Image, ProcessSymbols> processes =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Image, ProcessSymbols> eldest) {
          return size() > MAX_PROCESSES;
        }
      };
  private @Nullable KernelSymbols kernel;

  /**
   * A program that a process runs.
   *
   * @param stack the address of its stack, which changes with each exec; 0 for the current program
   */
  public record Image(int pid, long stack) {

    /** Returns the current program of a process. */
    public static Image now(int pid) {
      return new Image(pid, 0);
    }
  }

  /** Creates an instance that reads {@code proc} instead of {@code /proc}. */
  Symbols(Path proc) {
    this.proc = proc;
  }

  /** Returns the symbols of this machine. */
  public static Symbols ofThisMachine() {
    return new Symbols(Path.of("/proc"));
  }

  /** Returns the current program of a process, which differs from later ones. */
  public Image image(int pid) {
    return new Image(pid, ProcessSymbols.stack(proc.resolve(Integer.toString(pid))));
  }

  /**
   * Returns the function at an address of a process: its name, {@code module+0xaddress} if the
   * module has no symbol there, or {@code 0xaddress} if no module is known.
   */
  public String user(Image image, long address) {
    return process(image).at(address);
  }

  /** Returns the frame of a function at an instruction. */
  public CallFrame frame(Image image, Instruction instruction) {
    return process(image).frame(instruction);
  }

  /** Returns whether the C library starts threads or programs in the function at an address. */
  public boolean isRoot(Image image, long address) {
    return process(image).isRoot(address);
  }

  /**
   * Returns the address of the interpreter state of Python 3.11; 0 if the process does not run it.
   */
  public long pythonRuntime(Image image) {
    return process(image).pythonRuntime();
  }

  /** Returns the kernel function at an address; {@code 0xaddress} if it is unknown or hidden. */
  public String kernel(long address) {
    String name = kernelSymbols().at(address);
    return name == null ? "0x" + Long.toHexString(address) : name;
  }

  /** Returns whether this process may read the addresses of kernel functions. */
  public boolean kernelIsVisible() {
    return !kernelSymbols().isEmpty();
  }

  /** Returns a sentence for each reason why functions of a process have no plain names. */
  public List<String> missing(Image image) {
    return process(image).missing().stream()
        .map(why -> "process " + image.pid() + " " + why)
        .toList();
  }

  /** Remembers the mappings of a process, to resolve its addresses after it has exited. */
  public void remember(Image image) {
    process(image).remember();
  }

  /** Reads the mappings of a process again if none of the known ones contains an address. */
  public void remember(Image image, long address) {
    process(image).remember(address);
  }

  /** Reads the changed perf maps of remembered processes again. */
  public void refreshCompiled() {
    processes.values().forEach(ProcessSymbols::refreshCompiled);
  }

  private ProcessSymbols process(Image image) {
    return processes.computeIfAbsent(
        image,
        key -> new ProcessSymbols(proc.resolve(Integer.toString(key.pid())), key.stack(), files));
  }

  private KernelSymbols kernelSymbols() {
    KernelSymbols known = kernel;
    if (known == null) {
      known = KernelSymbols.of(proc.resolve("kallsyms"));
      kernel = known;
    }
    return known;
  }
}
