package io.inferspan.samples.desk.otlp;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Makes text of bytes, and the same text of the same bytes where they came a short while ago.
 *
 * <p>A handful of names makes up most of a stream of spans. The table has a fixed size: who sends
 * ever new names only makes it useless. One thread uses it at a time.
 */
final class Texts {

  private static final int SLOTS = 4096;
  private static final int MAX_SHARED_BYTES = 128;
  private static final String CUT = "…";

  private final byte[] @Nullable [] keys = new byte[SLOTS][];
  private final @Nullable String[] values = new String[SLOTS];

  /** The text of a field, at most so many bytes of it. */
  String of(ProtoReader field, int maxBytes) {
    int from = field.position();
    int length = field.remaining();
    if (length > MAX_SHARED_BYTES) {
      return cut(field.bytes(), from, length, maxBytes);
    }
    int slot = hash(field.bytes(), from, from + length) & (SLOTS - 1);
    byte[] key = keys[slot];
    String value = values[slot];
    if (key != null
        && value != null
        && Arrays.equals(key, 0, key.length, field.bytes(), from, from + length)) {
      return value;
    }
    String made = new String(field.bytes(), from, length, StandardCharsets.UTF_8);
    keys[slot] = Arrays.copyOfRange(field.bytes(), from, from + length);
    values[slot] = made;
    return made;
  }

  /** Text of at most so many bytes, cut between two characters and marked so. */
  static String cut(byte[] bytes, int from, int length, int maxBytes) {
    if (length <= maxBytes) {
      return new String(bytes, from, length, StandardCharsets.UTF_8);
    }
    int end = from + maxBytes;
    // Not in the middle of a character: what goes on begins with the bits 10.
    while (end > from && (bytes[end] & 0xc0) == 0x80) {
      end--;
    }
    return new String(bytes, from, end - from, StandardCharsets.UTF_8) + CUT;
  }

  private static int hash(byte[] bytes, int from, int end) {
    int hash = end - from;
    for (int i = from; i < end; i++) {
      hash = 31 * hash + bytes[i];
    }
    return hash ^ (hash >>> 15);
  }
}
