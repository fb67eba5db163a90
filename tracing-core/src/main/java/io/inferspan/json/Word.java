package io.inferspan.json;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * Converts a word to a number while it is read, so that keys are compared without strings.
 *
 * <p>Words of up to seven bytes never collide; longer ones collide like 64-bit hashes.
 */
public final class Word {

  private static final long SPREAD = 0x9E3779B97F4A7C15L;

  private long hash;
  private long eight;
  private int bytes;

  /** Creates an empty word. */
  public Word() {}

  /** Clears the word. */
  public void clear() {
    hash = 0;
    eight = 0;
    bytes = 0;
  }

  /** Reads up to a quote, a backslash, a line break or {@code end}, and returns the position. */
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

  /** Mixes the next eight bytes, or the last one to seven, into a hash. */
  static long mix(long hash, long eight) {
    long mixed = (hash ^ eight) * SPREAD;
    return mixed ^ (mixed >>> 29);
  }
}
