package io.inferspan.ebpf.symbols;

import io.inferspan.ebpf.elf.CallFrame;
import io.inferspan.ebpf.elf.Instruction;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Names of functions in the processes of this machine and in its kernel.
 *
 * <p>Belongs to one thread. Names are those of now: of a process that has ended, only what was
 * looked up, or {@link #remember remembered}, while it ran is known.
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
   * @param stack where its stack begins, which differs after each exec; 0 for whatever it runs now
   */
  public record Image(int pid, long stack) {

    /** What a process runs now. */
    public static Image now(int pid) {
      return new Image(pid, 0);
    }
  }

  /** Reads from here instead of {@code /proc}. */
  Symbols(Path proc) {
    this.proc = proc;
  }

  /** Of the machine that this process runs on. */
  public static Symbols ofThisMachine() {
    return new Symbols(Path.of("/proc"));
  }

  /** What a process runs now, and can be told from what it runs later. */
  public Image image(int pid) {
    return new Image(pid, ProcessSymbols.stack(proc.resolve(Integer.toString(pid))));
  }

  /**
   * The function at an address of a process: its name, {@code module+0xaddress} where the module
   * has no symbol there, or {@code 0xaddress} where no module is known.
   */
  public String user(Image image, long address) {
    return process(image).at(address);
  }

  /** The frame that a function has at an instruction. */
  public CallFrame frame(Image image, Instruction instruction) {
    return process(image).frame(instruction);
  }

  /** Whether the C library begins threads or programs in the function at an address. */
  public boolean isRoot(Image image, long address) {
    return process(image).isRoot(address);
  }

  /** Where the state of a process's Python 3.11 is; 0 if it runs none. */
  public long pythonRuntime(Image image) {
    return process(image).pythonRuntime();
  }

  /** The kernel's function at an address; {@code 0xaddress} where the kernel hides them. */
  public String kernel(long address) {
    String name = kernelSymbols().at(address);
    return name == null ? "0x" + Long.toHexString(address) : name;
  }

  /** Whether the kernel tells this process where its functions are. */
  public boolean kernelIsVisible() {
    return !kernelSymbols().isEmpty();
  }

  /**
   * Says why functions of a process that were looked up have no plain names, a sentence for each
   * reason.
   */
  public List<String> missing(Image image) {
    return process(image).missing().stream()
        .map(why -> "process " + image.pid() + " " + why)
        .toList();
  }

  /** Notes what a process has mapped, so that its addresses have names after it has ended. */
  public void remember(Image image) {
    process(image).remember();
  }

  /** Notes what a process has mapped if it was not known to map this address. */
  public void remember(Image image, long address) {
    process(image).remember(address);
  }

  /** Reads again what runtimes of remembered processes have compiled, where that has changed. */
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
