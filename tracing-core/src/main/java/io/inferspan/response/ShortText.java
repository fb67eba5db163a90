package io.inferspan.response;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** A short text that is being read; what is longer is cut, and the rest of it forgotten. */
final class ShortText {

  static final int MAX_BYTES = 128;

  /** The longest word of an enumeration; what is longer or not a word may be a message. */
  static final int MAX_WORD_BYTES = 64;

  private static final String NO_WORD = "other";

  private final byte[] bytes = new byte[MAX_BYTES];
  private int length;

  void clear() {
    length = 0;
  }

  void add(byte next) {
    if (length < MAX_BYTES) {
      bytes[length++] = next;
    }
  }

  boolean is(String ascii) {
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

  /** The text, or {@code before} where it is the same, so that repetition costs no memory. */
  String text(@Nullable String before) {
    if (before != null && is(before)) {
      return before;
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

  /** The text where it is a plain word, {@code "other"} where it may be more; null if empty. */
  @Nullable String word(@Nullable String before) {
    if (length == 0) {
      return null;
    }
    return isWord() ? text(before) : NO_WORD;
  }

  private boolean isWord() {
    for (int i = 0; i < length; i++) {
      if (!isWordByte(bytes[i])) {
        return false;
      }
    }
    return length <= MAX_WORD_BYTES;
  }

  private static boolean isWordByte(byte b) {
    return (b >= 'a' && b <= 'z')
        || (b >= 'A' && b <= 'Z')
        || (b >= '0' && b <= '9')
        || b == '_'
        || b == '-'
        || b == '.';
  }
}
