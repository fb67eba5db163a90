package io.inferspan.ebpf.symbols;

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
  private final Map<Integer, ProcessSymbols> processes =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Integer, ProcessSymbols> eldest) {
          return size() > MAX_PROCESSES;
        }
      };
  private @Nullable KernelSymbols kernel;

  /** Reads from here instead of {@code /proc}. */
  Symbols(Path proc) {
    this.proc = proc;
  }

  /** Of the machine that this process runs on. */
  public static Symbols ofThisMachine() {
    return new Symbols(Path.of("/proc"));
  }

  /**
   * The function at an address of a process: its name, {@code module+0xaddress} where the module
   * has no symbol there, or {@code 0xaddress} where no module is known.
   */
  public String user(int pid, long address) {
    return process(pid).at(address);
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
  public List<String> missing(int pid) {
    return process(pid).missing().stream().map(why -> "process " + pid + " " + why).toList();
  }

  /** Notes what a process has mapped, so that its addresses have names after it has ended. */
  public void remember(int pid) {
    process(pid).refresh();
  }

  /** Notes what a process has mapped if it was not known to map this address. */
  public void remember(int pid, long address) {
    process(pid).remember(address);
  }

  private ProcessSymbols process(int pid) {
    return processes.computeIfAbsent(
        pid, number -> new ProcessSymbols(proc.resolve(Integer.toString(number)), files));
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
