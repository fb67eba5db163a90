package io.inferspan.ebpf.wire;

import java.util.Locale;

/** How the kernel's programs found the owner of an event, numbered as in {@code wire.h}. */
public enum Source {
  UNKNOWN,
  OWN_THREAD,
  HTTP,
  INHERITED,
  COOPERATIVE,
  OTEL_MAP,
  CONNECTION,
  PROCESS,
  FRAMES;

  private static final Source[] ALL = values();

  private final String word = name().toLowerCase(Locale.ROOT);

  /** Returns the source of this number; {@link #UNKNOWN} for other numbers. */
  public static Source of(int number) {
    return number >= 0 && number < ALL.length ? ALL[number] : UNKNOWN;
  }

  /** Returns its value in spans. */
  public String word() {
    return word;
  }
}
