package io.inferspan.ebpf.wire;

import java.util.Locale;

/** What a file descriptor stands for, numbered as in {@code wire.h}. */
public enum FdKind {
  UNKNOWN,
  FILE,
  INET,
  UNIX,
  PIPE,
  OTHER;

  private static final FdKind[] ALL = values();

  private final String word = name().toLowerCase(Locale.ROOT);

  /** The kind of this number; one that we do not know is {@link #UNKNOWN}. */
  public static FdKind of(int number) {
    return number >= 0 && number < ALL.length ? ALL[number] : UNKNOWN;
  }

  /** The word for it in a span. */
  public String word() {
    return word;
  }
}
