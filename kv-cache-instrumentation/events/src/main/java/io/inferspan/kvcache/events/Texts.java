package io.inferspan.kvcache.events;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;

/** Reads short texts and reuses recent strings. */
final class Texts {

  private static final int KEPT = 8;

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

  static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  String read(MsgpackReader in) throws MalformedException {
    int length = in.text();
    int from = in.position();
    if (length > maxBytes) {
      throw MalformedException.INSTANCE;
    }
    in.step(length);
    return text(in.bytes(), from, from + length);
  }

  String text(byte[] in, int from, int to) {
    for (int i = 0; i < size; i++) {
      if (Arrays.equals(bytes[i], 0, bytes[i].length, in, from, to)) {
        return strings[i];
      }
    }
    String text = new String(in, from, to - from, StandardCharsets.UTF_8);
    String kept = lowerCase ? text.toLowerCase(Locale.ROOT) : text;
    bytes[oldest] = Arrays.copyOfRange(in, from, to);
    strings[oldest] = kept;
    oldest = (oldest + 1) % KEPT;
    size = Math.min(KEPT, size + 1);
    return kept;
  }
}
