package io.inferspan.ebpf.flame;

import org.jspecify.annotations.Nullable;

/** The unit in which stacks are counted. */
public enum Unit {
  SAMPLES("samples"),
  CALLS("calls"),
  NANOS("ns"),
  MICROS("us"),
  BYTES("bytes");

  private final String word;

  Unit(String word) {
    this.word = word;
  }

  /** Returns its name on command lines and pages. */
  public String word() {
    return word;
  }

  /** Returns the unit with this name; null if there is none. */
  public static @Nullable Unit of(String word) {
    for (Unit unit : values()) {
      if (unit.word.equals(word)) {
        return unit;
      }
    }
    return null;
  }
}
