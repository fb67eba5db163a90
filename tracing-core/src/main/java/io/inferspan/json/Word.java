package io.inferspan.json;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * A word that is being read, as a number, so that keys are compared without strings.
 *
 * <p>Words of up to seven bytes never collide; longer ones with the odds of 64 bits.
 */
public final class Word {

  private static final long SPREAD = 0x9E3779B97F4A7C15L;

  private long hash;
  private long eight;
  private int bytes;

  /** A word that has not begun. */
  public Word() {}

  /** Begins anew. */
  public void clear() {
    hash = 0;
    eight = 0;
    bytes = 0;
  }

  /**
   * Reads on up to a quote, a backslash, a line break or {@code end}, and returns where that is.
   */
  public int read(ByteBuffer from, int begin, int end) {
    int at = begin;
    while (bytes == 0 && end - at >= Long.BYTES) {
      long next = EightBytes.at(from, at);
      long found = EightBytes.endsOfText(next);
      if (found != 0) {
        bytes = EightBytes.before(found);
        eight = next & ((1L << (Byte.SIZE * bytes)) - 1);
        at += bytes;
        break;
      }
      hash = mix(hash, next);
      at += Long.BYTES;
    }
    while (at < end && !EightBytes.endsText(from.get(at))) {
      add(from.get(at++));
    }
    return at;
  }

  private void add(byte next) {
    eight |= (next & 0xffL) << (Byte.SIZE * bytes);
    if (++bytes == Long.BYTES) {
      hash = mix(hash, eight);
      eight = 0;
      bytes = 0;
    }
  }

  /** Returns the number of the word that was read. */
  public long number() {
    return mix(hash, eight);
  }

  static long numberOf(String text) {
    Word word = new Word();
    for (byte next : text.getBytes(StandardCharsets.US_ASCII)) {
      word.add(next);
    }
    return word.number();
  }

  /** Adds the next eight bytes, or the last ones, of which there are fewer. */
  static long mix(long hash, long eight) {
    long mixed = (hash ^ eight) * SPREAD;
    return mixed ^ (mixed >>> 29);
  }
}
