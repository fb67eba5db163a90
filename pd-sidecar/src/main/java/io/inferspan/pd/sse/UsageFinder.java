package io.inferspan.pd.sse;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;

/**
 * Finds where the word {@code "usage"} stands, cheaply: nearly every chunk of a stream has none.
 */
final class UsageFinder {
  private static final byte[] WORD = "\"usage\"".getBytes(StandardCharsets.US_ASCII);

  /** The letter to look for: of those in the word, text and JSON have the fewest of it. */
  private static final int RARE = 4;

  private UsageFinder() {}

  /** Returns the first position of the word in a part of a buffer, or -1. */
  static int find(ByteBuf buffer, int from, int to) {
    int start = from;
    while (to - start >= WORD.length) {
      int rare = buffer.indexOf(start + RARE, to - (WORD.length - RARE) + 1, WORD[RARE]);
      if (rare < 0) {
        return -1;
      }
      if (isWord(buffer, rare - RARE)) {
        return rare - RARE;
      }
      start = rare + 1;
    }
    return -1;
  }

  private static boolean isWord(ByteBuf buffer, int at) {
    for (int i = 0; i < WORD.length; i++) {
      if (buffer.getByte(at + i) != WORD[i]) {
        return false;
      }
    }
    return true;
  }
}
