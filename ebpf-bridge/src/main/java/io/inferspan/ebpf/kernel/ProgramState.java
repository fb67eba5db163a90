package io.inferspan.ebpf.kernel;

/**
 * The state of a BPF program.
 *
 * @param object the name of the object that it belongs to
 * @param name its name
 * @param problem why it is not attached; empty if it is
 * @param runs its runs while the kernel's run statistics were enabled
 * @param runNanos its total run time in nanoseconds while they were enabled
 */
public record ProgramState(String object, String name, String problem, long runs, long runNanos) {

  /** Returns whether it is attached, or will be when a library is observed. */
  public boolean inPlace() {
    return problem.isEmpty();
  }
}
