package io.inferspan.kvcache.block;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/** The hash XXH64 with seed 0; collects its input, a block of tokens, in a reused buffer. */
final class XxHash64 {

  private static final long PRIME_1 = 0x9E3779B185EBCA87L;
  private static final long PRIME_2 = 0xC2B2AE3D27D4EB4FL;
  private static final long PRIME_3 = 0x165667B19E3779F9L;
  private static final long PRIME_4 = 0x85EBCA77C2B2AE63L;
  private static final long PRIME_5 = 0x27D4EB2F165667C5L;

  /** {@code PRIME_1 + PRIME_2} with overflow. */
  private static final long START_1 = 0x60EA27EEADC0B5D6L;

  private static final int STRIPE_BYTES = 4 * Long.BYTES;

  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

  private byte[] input = new byte[128];
  private int size;

  /** Appends eight bytes, the lowest first. */
  void update(long value) {
    int at = extend(Long.BYTES);
    LONG.set(input, at, value);
  }

  /** Appends tokens, four bytes each, the lowest first. */
  void update(int[] tokens, int from, int to) {
    int at = extend((to - from) * Integer.BYTES);
    for (int i = from; i < to; i++, at += Integer.BYTES) {
      INT.set(input, at, tokens[i]);
    }
  }

  void update(byte[] octets) {
    int at = extend(octets.length);
    System.arraycopy(octets, 0, input, at, octets.length);
  }

  /** Extends the input by this many bytes, and returns their index. */
  private int extend(int bytes) {
    int at = size;
    size += bytes;
    if (size > input.length) {
      input = Arrays.copyOf(input, Math.max(size, 2 * input.length));
    }
    return at;
  }

  /** Returns the hash and empties the buffer. */
  long finish() {
    int at = size - size % STRIPE_BYTES;
    long hash = (at == 0 ? PRIME_5 : stripes(at)) + size;
    for (; at + Long.BYTES <= size; at += Long.BYTES) {
      hash = Long.rotateLeft(hash ^ round(0, at), 27) * PRIME_1 + PRIME_4;
    }
    if (at + Integer.BYTES <= size) {
      hash ^= Integer.toUnsignedLong((int) INT.get(input, at)) * PRIME_1;
      hash = Long.rotateLeft(hash, 23) * PRIME_2 + PRIME_3;
      at += Integer.BYTES;
    }
    for (; at < size; at++) {
      hash = Long.rotateLeft(hash ^ (input[at] & 0xff) * PRIME_5, 11) * PRIME_1;
    }
    size = 0;
    hash = (hash ^ (hash >>> 33)) * PRIME_2;
    hash = (hash ^ (hash >>> 29)) * PRIME_3;
    return hash ^ (hash >>> 32);
  }

  private long stripes(int end) {
    long sum1 = START_1;
    long sum2 = PRIME_2;
    long sum3 = 0;
    long sum4 = -PRIME_1;
    for (int at = 0; at < end; at += STRIPE_BYTES) {
      sum1 = round(sum1, at);
      sum2 = round(sum2, at + Long.BYTES);
      sum3 = round(sum3, at + 2 * Long.BYTES);
      sum4 = round(sum4, at + 3 * Long.BYTES);
    }
    long hash =
        Long.rotateLeft(sum1, 1)
            + Long.rotateLeft(sum2, 7)
            + Long.rotateLeft(sum3, 12)
            + Long.rotateLeft(sum4, 18);
    return merge(merge(merge(merge(hash, sum1), sum2), sum3), sum4);
  }

  private long round(long sum, int at) {
    return mix(sum, (long) LONG.get(input, at));
  }

  private static long merge(long hash, long sum) {
    return (hash ^ mix(0, sum)) * PRIME_1 + PRIME_4;
  }

  private static long mix(long sum, long lane) {
    return Long.rotateLeft(sum + lane * PRIME_2, 31) * PRIME_1;
  }
}
