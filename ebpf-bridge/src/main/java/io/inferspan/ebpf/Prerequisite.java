package io.inferspan.ebpf;

/**
 * A requirement of the bridge, and whether the machine meets it.
 *
 * @param name its name in reports, such as {@code privileges}
 * @param state whether it is present
 * @param found what was found
 * @param remedy how to meet it; empty if there is nothing to do
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
