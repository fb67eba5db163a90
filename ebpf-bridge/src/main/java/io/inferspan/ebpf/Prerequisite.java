package io.inferspan.ebpf;

/**
 * Something that the bridge needs from the machine.
 *
 * @param name its name
 * @param state whether it is present
 * @param found what was found
 * @param remedy what to do; empty if nothing is needed
 */
public record Prerequisite(String name, State state, String found, String remedy) {

  /** The state of a prerequisite. */
  public enum State {
    /** Present. */
    AVAILABLE,
    /** Partly present; the bridge works without the rest. */
    LIMITED,
    /** Absent, and the bridge does not work without it. */
    MISSING
  }

  /** Returns a prerequisite that is present. */
  public static Prerequisite available(String name, String found) {
    return new Prerequisite(name, State.AVAILABLE, found, "");
  }

  /** Returns a prerequisite that is partly present. */
  public static Prerequisite limited(String name, String found, String remedy) {
    return new Prerequisite(name, State.LIMITED, found, remedy);
  }

  /** Returns a prerequisite that is absent. */
  public static Prerequisite missing(String name, String found, String remedy) {
    return new Prerequisite(name, State.MISSING, found, remedy);
  }
}
