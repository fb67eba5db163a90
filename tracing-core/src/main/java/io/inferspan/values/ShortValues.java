package io.inferspan.values;

import io.inferspan.propagation.RequestId;
import org.jspecify.annotations.Nullable;

/** Values that a client chose, for a span: short and printable. */
public final class ShortValues {

  /** More of a value than this is cut off. */
  public static final int MAX_CHARS = 128;

  private ShortValues() {}

  /** The value, cut at {@link #MAX_CHARS}; null if it has other than visible ASCII characters. */
  public static @Nullable String of(@Nullable String value) {
    if (value == null) {
      return null;
    }
    String cut = value.length() > MAX_CHARS ? value.substring(0, MAX_CHARS) : value;
    return cut.isEmpty() || RequestId.isWellFormed(cut) ? cut : null;
  }
}
