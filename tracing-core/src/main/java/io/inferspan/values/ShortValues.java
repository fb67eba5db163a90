package io.inferspan.values;

import io.inferspan.propagation.RequestId;
import org.jspecify.annotations.Nullable;

/** Sanitizes values that clients choose, for use as span attributes. */
public final class ShortValues {

  /** The length at which a value is truncated. */
  public static final int MAX_CHARS = 128;

  private ShortValues() {}

  /** Returns the value, truncated; null if the result is not visible ASCII without spaces. */
  public static @Nullable String of(@Nullable String value) {
    if (value == null) {
      return null;
    }
    String cut = value.length() > MAX_CHARS ? value.substring(0, MAX_CHARS) : value;
    return cut.isEmpty() || RequestId.isWellFormed(cut) ? cut : null;
  }
}
