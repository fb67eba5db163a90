package io.inferspan.ebpf.wire;

import java.util.Locale;

/** The kind of a file descriptor, numbered as in {@code wire.h}. */
public enum FdKind {
  UNKNOWN,
  FILE,
  INET,
  UNIX,
  PIPE,
  OTHER;

  private static final FdKind[] ALL = values();

  private final String word = name().toLowerCase(Locale.ROOT);

  /** Returns the kind of this number; {@link #UNKNOWN} for other numbers. */
  public static FdKind of(int number) {
    return number >= 0 && number < ALL.length ? ALL[number] : UNKNOWN;
  }

  /** Returns its value in spans. */
  public String word() {
    return word;
  }
}
