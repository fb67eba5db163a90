package io.inferspan.ebpf.wire;

import java.util.Locale;

/** How the kernel knew whom a thread served, numbered as in {@code wire.h}. */
public enum Source {
  UNKNOWN,
  OWN_THREAD,
  HTTP,
  INHERITED,
  COOPERATIVE,
  OTEL_MAP;

  private static final Source[] ALL = values();

  private final String word = name().toLowerCase(Locale.ROOT);

  /** The source of this number; one that we do not know is {@link #UNKNOWN}. */
  public static Source of(int number) {
    return number >= 0 && number < ALL.length ? ALL[number] : UNKNOWN;
  }

  /** The word for it in a span. */
  public String word() {
    return word;
  }
}
