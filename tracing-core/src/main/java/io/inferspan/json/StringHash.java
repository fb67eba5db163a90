package io.inferspan.json;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * Hashes a string while it is read, so that keys are compared without creating strings.
 *
 * <p>Strings of up to seven bytes never collide; longer ones collide as rarely as other 64-bit
 * hashes.
 */
public final class StringHash {

  private static final long SPREAD = 0x9E3779B97F4A7C15L;

  private long hash;
  private long eight;
  private int bytes;

  /** Creates the hash of an empty string. */
  public StringHash() {}

  /** Resets to the hash of an empty string. */
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

  /** Returns the hash of the bytes read since {@link #clear()}. */
  public long value() {
    return mix(hash, eight);
  }

  static long of(String ascii) {
    StringHash hash = new StringHash();
    for (byte next : ascii.getBytes(StandardCharsets.US_ASCII)) {
      hash.add(next);
    }
    return hash.value();
  }

  /** Mixes the next eight bytes, or the last up to seven, into a hash. */
  static long mix(long hash, long eight) {
    long mixed = (hash ^ eight) * SPREAD;
    return mixed ^ (mixed >>> 29);
  }
}
