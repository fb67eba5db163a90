package io.inferspan.kvcache.block;

import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Computes block keys with {@code cbor-fnv}: FNV-1a over the canonical CBOR of parent, tokens and
 * extras.
 *
 * <p>The hash consumes the bytes as they are generated, so none are stored.
 */
final class CborFnvHasher implements BlockHasher {

  private static final int UINT = 0;
  private static final int TEXT = 3 << 5;
  private static final int ARRAY = 4 << 5;
  private static final int MAP = 5 << 5;
  private static final int NULL = 0xf6;

  private static final int ONE_BYTE_FOLLOWS = 24;
  private static final int TWO_BYTES_FOLLOW = 25;
  private static final int FOUR_BYTES_FOLLOW = 26;
  private static final int EIGHT_BYTES_FOLLOW = 27;

  /** The hash of the first byte of each hashed value, which is a CBOR array of three elements. */
  private static final long OPENED = Fnv1a64.update(Fnv1a64.EMPTY, ARRAY | 3);

  private static final byte[] HASH = "Hash".getBytes(StandardCharsets.US_ASCII);

  private final long init;

  CborFnvHasher(byte[] seed) {
    this.init = Fnv1a64.update(Fnv1a64.EMPTY, seed);
  }

  @Override
  public long root(String model) {
    long hash = head(OPENED, UINT, init);
    hash = Fnv1a64.update(hash, NULL);
    return text(hash, model.getBytes(StandardCharsets.UTF_8));
  }

  @Override
  public long next(long parent, int[] tokens, int from, int to, List<String> extras) {
    long hash = head(OPENED, UINT, parent);
    hash = head(hash, ARRAY, to - from);
    for (int i = from; i < to; i++) {
      hash = head(hash, UINT, Integer.toUnsignedLong(tokens[i]));
    }
    return extras.isEmpty() ? Fnv1a64.update(hash, NULL) : maps(hash, extras);
  }

  private static long maps(long before, List<String> extras) {
    long hash = head(before, ARRAY, extras.size());
    for (String extra : extras) {
      hash = head(hash, MAP, 1);
      hash = text(hash, HASH);
      hash = text(hash, extra.getBytes(StandardCharsets.UTF_8));
    }
    return hash;
  }

  private static long text(long hash, byte[] utf8) {
    return Fnv1a64.update(head(hash, TEXT, utf8.length), utf8);
  }

  /** Hashes the shortest form of a number, as canonical CBOR requires. */
  private static long head(long hash, int major, long value) {
    if (value >>> 8 == 0) {
      return value < ONE_BYTE_FOLLOWS
          ? Fnv1a64.update(hash, major | (int) value)
          : Fnv1a64.update(Fnv1a64.update(hash, major | ONE_BYTE_FOLLOWS), (int) value);
    }
    if (value >>> 16 == 0) {
      return twoBytes(Fnv1a64.update(hash, major | TWO_BYTES_FOLLOW), (int) value);
    }
    if (value >>> 24 == 0) {
      // The first of four bytes is zero for most token ids of today's vocabularies.
      long afterZero = Fnv1a64.updateWithZeroAfter(hash, major | FOUR_BYTES_FOLLOW);
      return twoBytes(Fnv1a64.update(afterZero, (int) (value >>> 16)), (int) value);
    }
    if (value >>> 32 == 0) {
      return fourBytes(Fnv1a64.update(hash, major | FOUR_BYTES_FOLLOW), (int) value);
    }
    long high = fourBytes(Fnv1a64.update(hash, major | EIGHT_BYTES_FOLLOW), (int) (value >>> 32));
    return fourBytes(high, (int) value);
  }

  private static long fourBytes(long hash, int value) {
    return twoBytes(twoBytes(hash, value >>> 16), value);
  }

  private static long twoBytes(long hash, int value) {
    return Fnv1a64.update(Fnv1a64.update(hash, (value >>> 8) & 0xff), value & 0xff);
  }
}
