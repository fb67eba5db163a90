package io.inferspan.samples.kvcache;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * A simple implementation of {@code xxh64} keys, for comparison: it copies lists of tokens into a
 * byte buffer and hashes that.
 */
final class PlainXxh64Keys {

  private static final int BLOCK = 16;
  private static final long P1 = 0x9E3779B185EBCA87L;
  private static final long P2 = 0xC2B2AE3D27D4EB4FL;
  private static final long P3 = 0x165667B19E3779F9L;
  private static final long P4 = 0x85EBCA77C2B2AE63L;
  private static final long P5 = 0x27D4EB2F165667C5L;

  private PlainXxh64Keys() {}

  static List<Long> of(String model, List<Integer> tokens) {
    List<Long> keys = new ArrayList<>();
    byte[] name = model.getBytes(StandardCharsets.UTF_8);
    long parent = hash(buffer(16 + name.length).putLong(init()).putLong(name.length).put(name));
    for (int from = 0; from + BLOCK <= tokens.size(); from += BLOCK) {
      ByteBuffer bytes = buffer(Long.BYTES + BLOCK * Integer.BYTES).putLong(parent);
      tokens.subList(from, from + BLOCK).forEach(bytes::putInt);
      parent = hash(bytes);
      keys.add(parent);
    }
    return keys;
  }

  private static long init() {
    return hash(buffer(0));
  }

  private static ByteBuffer buffer(int size) {
    return ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static long hash(ByteBuffer written) {
    ByteBuffer in = written.flip();
    long length = in.remaining();
    long hash = length < 32 ? P5 : stripes(in);
    hash += length;
    while (in.remaining() >= Long.BYTES) {
      hash = Long.rotateLeft(hash ^ round(0, in.getLong()), 27) * P1 + P4;
    }
    if (in.remaining() >= Integer.BYTES) {
      hash = Long.rotateLeft(hash ^ Integer.toUnsignedLong(in.getInt()) * P1, 23) * P2 + P3;
    }
    while (in.hasRemaining()) {
      hash = Long.rotateLeft(hash ^ (in.get() & 0xff) * P5, 11) * P1;
    }
    hash = (hash ^ (hash >>> 33)) * P2;
    hash = (hash ^ (hash >>> 29)) * P3;
    return hash ^ (hash >>> 32);
  }

  private static long stripes(ByteBuffer in) {
    long[] sums = {0x60EA27EEADC0B5D6L, P2, 0, 0x61C8864E7A143579L};
    while (in.remaining() >= 32) {
      for (int i = 0; i < sums.length; i++) {
        sums[i] = round(sums[i], in.getLong());
      }
    }
    long hash =
        Long.rotateLeft(sums[0], 1)
            + Long.rotateLeft(sums[1], 7)
            + Long.rotateLeft(sums[2], 12)
            + Long.rotateLeft(sums[3], 18);
    for (long sum : sums) {
      hash = (hash ^ round(0, sum)) * P1 + P4;
    }
    return hash;
  }

  private static long round(long sum, long lane) {
    return Long.rotateLeft(sum + lane * P2, 31) * P1;
  }
}
