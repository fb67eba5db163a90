package io.inferspan.ebpf;

/**
 * Something the bridge needs from the machine, and whether it is there.
 *
 * @param name what it is
 * @param state whether it is there
 * @param found what was found
 * @param remedy what to do; empty where nothing is to be done
 */
public record Prerequisite(String name, State state, String found, String remedy) {

  /** Whether a prerequisite is there. */
  public enum State {
    /** It is there. */
    AVAILABLE,
    /** It is not all there, and the bridge does without. */
    LIMITED,
    /** It is not there, and without it there is no bridge. */
    MISSING
  }

  static Prerequisite available(String name, String found) {
    return new Prerequisite(name, State.AVAILABLE, found, "");
  }

  static Prerequisite limited(String name, String found, String remedy) {
    return new Prerequisite(name, State.LIMITED, found, remedy);
  }

  static Prerequisite missing(String name, String found, String remedy) {
    return new Prerequisite(name, State.MISSING, found, remedy);
  }
}
