package io.inferspan.ebpf.kernel;

/**
 * A program, and whether it is in place.
 *
 * @param object the object that it belongs to
 * @param name its name
 * @param problem why it is not in place; empty where it is
 * @param runs how often it ran while runs were counted
 * @param runNanos how long it ran in all
 */
public record ProgramState(String object, String name, String problem, long runs, long runNanos) {

  /** Whether it runs, or will once a library is watched. */
  public boolean inPlace() {
    return problem.isEmpty();
  }
}
