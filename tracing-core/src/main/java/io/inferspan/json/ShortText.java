package io.inferspan.json;

import java.nio.charset.StandardCharsets;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** A buffer for a short text; longer texts are truncated. */
public final class ShortText {

  /** The length at which a text is truncated. */
  public static final int MAX_BYTES = 128;

  private final byte[] bytes = new byte[MAX_BYTES];
  private int length;

  ShortText() {}

  void clear() {
    length = 0;
  }

  void add(byte next) {
    if (length < MAX_BYTES) {
      bytes[length++] = next;
    }
  }

  /** Returns whether the text equals {@code ascii}. */
  public boolean is(String ascii) {
    if (ascii.length() != length) {
      return false;
    }
    for (int i = 0; i < length; i++) {
      if (bytes[i] != ascii.charAt(i)) {
        return false;
      }
    }
    return true;
  }

  /** Returns the text, or {@code previous} if it is equal, so that repetition allocates nothing. */
  public String text(@Nullable String previous) {
    if (previous != null && is(previous)) {
      return previous;
    }
    int end = length;
    if (end == MAX_BYTES) {
      while (end > 0 && (bytes[end - 1] & 0xC0) == 0x80) {
        end--;
      }
      end -= end > 0 && bytes[end - 1] < 0 ? 1 : 0;
    }
    return new String(bytes, 0, end, StandardCharsets.UTF_8);
  }

  /**
   * Returns the text, mapped by {@code mapping}; null if it is empty.
   *
   * @param previous the previous result, which is reused if the text equals it
   */
  public @Nullable String mapped(UnaryOperator<String> mapping, @Nullable String previous) {
    return length == 0 ? null : mapping.apply(text(previous));
  }
}
