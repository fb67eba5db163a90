package io.inferspan.epp.values;

import org.jspecify.annotations.Nullable;

/** Values that a client chose, made fit for a span: short, and printable. */
public final class ShortValues {

  /** More of a value than this is cut off. */
  public static final int MAX_CHARS = 128;

  private ShortValues() {}

  /** The value where it is fit, cut where it is long; null where it holds what nobody prints. */
  public static @Nullable String of(@Nullable String value) {
    if (value == null) {
      return null;
    }
    String cut = value.length() > MAX_CHARS ? value.substring(0, MAX_CHARS) : value;
    for (int i = 0; i < cut.length(); i++) {
      char c = cut.charAt(i);
      if (c <= ' ' || c > '~') {
        return null;
      }
    }
    return cut;
  }
}
