package io.inferspan.ebpf.flame;

import org.jspecify.annotations.Nullable;

/** What the numbers of stacks count. */
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

  /** As command lines and pages write it. */
  public String word() {
    return word;
  }

  /** The unit of a word; null for another word. */
  public static @Nullable Unit of(String word) {
    for (Unit unit : values()) {
      if (unit.word.equals(word)) {
        return unit;
      }
    }
    return null;
  }
}
