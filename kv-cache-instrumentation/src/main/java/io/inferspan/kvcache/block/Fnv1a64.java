package io.inferspan.kvcache.block;

/** The 64-bit hash FNV-1a, computed byte by byte; the hash is the whole state. */
final class Fnv1a64 {

  /** The hash of no bytes. */
  static final long EMPTY = 0xcbf29ce484222325L;

  private static final long PRIME = 0x100000001b3L;

  /** The square of the prime in 64 bits. */
  private static final long PRIME_SQUARED = 0x366000002e329L;

  private Fnv1a64() {}

  /** Hashes one byte, 0 to 255. */
  static long update(long hash, int octet) {
    return (hash ^ octet) * PRIME;
  }

  /** Hashes one byte and then a zero byte, which adds only a second multiplication. */
  static long updateWithZeroAfter(long hash, int octet) {
    return (hash ^ octet) * PRIME_SQUARED;
  }

  static long update(long before, byte[] octets) {
    long hash = before;
    for (byte octet : octets) {
      hash = update(hash, octet & 0xff);
    }
    return hash;
  }
}
