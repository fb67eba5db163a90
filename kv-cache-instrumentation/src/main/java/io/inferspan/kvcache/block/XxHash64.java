package io.inferspan.kvcache.block;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * The hash XXH64 with seed 0, fed with numbers.
 *
 * <p>XXH64 reads its input in lanes of eight bytes, four lanes at a time. Lanes are built from the
 * numbers directly, so that a block of tokens need not be copied to bytes.
 */
final class XxHash64 {

  private static final long PRIME_1 = 0x9E3779B185EBCA87L;
  private static final long PRIME_2 = 0xC2B2AE3D27D4EB4FL;
  private static final long PRIME_3 = 0x165667B19E3779F9L;
  private static final long PRIME_4 = 0x85EBCA77C2B2AE63L;
  private static final long PRIME_5 = 0x27D4EB2F165667C5L;

  /** {@code PRIME_1 + PRIME_2} with overflow. */
  private static final long START_1 = 0x60EA27EEADC0B5D6L;

  /** {@code -PRIME_1}. */
  private static final long START_4 = 0x61C8864E7A143579L;

  private static final VarHandle LITTLE_ENDIAN =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private long sum1;
  private long sum2;
  private long sum3;
  private long sum4;

  /** Complete lanes that wait for a fourth. */
  private long lane1;

  private long lane2;
  private long lane3;

  private long lanes;

  /** A partial lane, its first byte lowest; zero above {@code pendingBytes}. */
  private long pending;

  private int pendingBytes;

  /** Creates a hash of no bytes. */
  XxHash64() {
    reset();
  }

  private void reset() {
    sum1 = START_1;
    sum2 = PRIME_2;
    sum3 = 0;
    sum4 = START_4;
    lanes = 0;
    pending = 0;
    pendingBytes = 0;
  }

  /** Hashes eight bytes, the lowest first. */
  void take(long value) {
    if (pendingBytes == 0) {
      lane(value);
      return;
    }
    int bits = pendingBytes * Byte.SIZE;
    lane(pending | (value << bits));
    pending = value >>> (Long.SIZE - bits);
  }

  /** Hashes tokens, four bytes each, the lowest first. */
  void take(int[] tokens, int from, int to) {
    int i = from;
    for (; i + 1 < to; i += 2) {
      take(Integer.toUnsignedLong(tokens[i]) | ((long) tokens[i + 1] << Integer.SIZE));
    }
    if (i < to) {
      take(Integer.toUnsignedLong(tokens[i]), Integer.BYTES);
    }
  }

  void take(byte[] octets) {
    int i = 0;
    for (; i + Long.BYTES <= octets.length; i += Long.BYTES) {
      take((long) LITTLE_ENDIAN.get(octets, i));
    }
    for (; i < octets.length; i++) {
      take(octets[i] & 0xffL, 1);
    }
  }

  /** Hashes fewer than eight bytes, the lowest first; {@code value} is zero above them. */
  private void take(long value, int bytes) {
    int bits = pendingBytes * Byte.SIZE;
    pending |= value << bits;
    pendingBytes += bytes;
    if (pendingBytes >= Long.BYTES) {
      lane(pending);
      pendingBytes -= Long.BYTES;
      pending = value >>> (Long.SIZE - bits);
    }
  }

  private void lane(long lane) {
    switch ((int) (lanes++ & 3)) {
      case 0 -> lane1 = lane;
      case 1 -> lane2 = lane;
      case 2 -> lane3 = lane;
      default -> stripe(lane);
    }
  }

  private void stripe(long lane4) {
    sum1 = round(sum1, lane1);
    sum2 = round(sum2, lane2);
    sum3 = round(sum3, lane3);
    sum4 = round(sum4, lane4);
  }

  /** Returns the hash and resets the state. */
  long finish() {
    long hash = lanes < 4 ? PRIME_5 : merged();
    hash += lanes * Long.BYTES + pendingBytes;
    int left = (int) (lanes & 3);
    if (left > 0) {
      hash = tail(hash, lane1);
    }
    if (left > 1) {
      hash = tail(hash, lane2);
    }
    if (left > 2) {
      hash = tail(hash, lane3);
    }
    hash = avalanche(pendingTail(hash));
    reset();
    return hash;
  }

  private long merged() {
    long hash =
        Long.rotateLeft(sum1, 1)
            + Long.rotateLeft(sum2, 7)
            + Long.rotateLeft(sum3, 12)
            + Long.rotateLeft(sum4, 18);
    hash = merge(hash, sum1);
    hash = merge(hash, sum2);
    hash = merge(hash, sum3);
    return merge(hash, sum4);
  }

  private long pendingTail(long before) {
    long hash = before;
    int at = 0;
    if (pendingBytes >= Integer.BYTES) {
      hash ^= (pending & 0xffffffffL) * PRIME_1;
      hash = Long.rotateLeft(hash, 23) * PRIME_2 + PRIME_3;
      at = Integer.BYTES;
    }
    for (; at < pendingBytes; at++) {
      hash ^= ((pending >>> (at * Byte.SIZE)) & 0xff) * PRIME_5;
      hash = Long.rotateLeft(hash, 11) * PRIME_1;
    }
    return hash;
  }

  private static long round(long sum, long lane) {
    return Long.rotateLeft(sum + lane * PRIME_2, 31) * PRIME_1;
  }

  private static long merge(long hash, long sum) {
    return (hash ^ round(0, sum)) * PRIME_1 + PRIME_4;
  }

  private static long tail(long hash, long lane) {
    return Long.rotateLeft(hash ^ round(0, lane), 27) * PRIME_1 + PRIME_4;
  }

  private static long avalanche(long before) {
    long hash = (before ^ (before >>> 33)) * PRIME_2;
    hash = (hash ^ (hash >>> 29)) * PRIME_3;
    return hash ^ (hash >>> 32);
  }
}
