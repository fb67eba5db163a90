package io.inferspan.kvcache.events;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;

/** Reads short texts and reuses recent strings. */
final class Texts {

  private static final int KEPT = 16;

  private final int maxBytes;
  private final boolean lowerCase;
  private final byte[][] bytes = new byte[KEPT][];
  private final String[] strings = new String[KEPT];
  private int oldest;
  private int size;

  Texts(int maxBytes, boolean lowerCase) {
    this.maxBytes = maxBytes;
    this.lowerCase = lowerCase;
  }

  String read(MsgpackReader in) throws MalformedException {
    int length = in.text();
    int from = in.position();
    if (length > maxBytes) {
      throw MalformedException.INSTANCE;
    }
    in.step(length);
    for (int i = 0; i < size; i++) {
      if (Arrays.equals(bytes[i], 0, bytes[i].length, in.bytes(), from, from + length)) {
        return strings[i];
      }
    }
    String text = new String(in.bytes(), from, length, StandardCharsets.UTF_8);
    String kept = lowerCase ? text.toLowerCase(Locale.ROOT) : text;
    bytes[oldest] = Arrays.copyOfRange(in.bytes(), from, from + length);
    strings[oldest] = kept;
    oldest = (oldest + 1) % KEPT;
    size = Math.min(KEPT, size + 1);
    return kept;
  }
}
