package io.inferspan.ebpf.wire;

import java.util.Locale;

/**
 * The detail levels of a class of events, numbered as {@code ispan_class_level} in {@code wire.h}.
 */
public enum DetailLevel {
  /** Each event is reported. */
  FULL(0),
  /** One event in sixteen is reported; the others are folded. */
  SAMPLED(1),
  /** All are folded in the kernel into sums by owner and kind. */
  FOLDED(2),
  /** They are counted by owner and kind. */
  COUNTED(3),
  /** Nothing is seen of them: their probes are detached, or the programs pass over them. */
  DETACHED(4);

  private final int number;

  DetailLevel(int number) {
    this.number = number;
  }

  /** Returns its number in the kernel; a higher number is less detail. */
  public int number() {
    return number;
  }

  static DetailLevel of(int number) {
    return values()[number];
  }

  /** Returns the next lower level, which {@link #DETACHED} does not have. */
  public DetailLevel lower() {
    return of(number + 1);
  }

  /** Returns the next higher level, which {@link #FULL} does not have. */
  public DetailLevel higher() {
    return of(number - 1);
  }

  /** Returns the amount of detail, from 4 for full to 0 for detached. */
  public int detail() {
    return DETACHED.number - number;
  }

  /** Returns its name on spans. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
