package io.inferspan.ebpf.wire;

import java.util.Locale;

/** The detail of an event class, numbered as {@code ispan_class_level} in {@code settings.h}. */
public enum DetailLevel {
  /** Each event is reported. */
  FULL(0),
  /** One event in sixteen is reported; the others are folded. */
  SAMPLED(1),
  /** All events are folded in the kernel into sums by owner and kind. */
  FOLDED(2),
  /** Events are only counted, by owner and kind; launches at their entry, not their return. */
  COUNTED(3),
  /**
   * Events are neither reported nor counted: probes are detached, or programs ignore the events.
   */
  DETACHED(4);

  private final int number;

  DetailLevel(int number) {
    this.number = number;
  }

  /** Returns its number in the BPF programs; a higher number is less detail. */
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
