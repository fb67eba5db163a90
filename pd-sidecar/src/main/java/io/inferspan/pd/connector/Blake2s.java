package io.inferspan.pd.connector;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/** Computes BLAKE2s hashes with 32 bytes of output and no key (RFC 7693). */
final class Blake2s {
  private static final int OUTPUT_BYTES = 32;
  private static final int BLOCK_BYTES = 64;
  private static final int BLOCK_WORDS = 16;
  private static final int STATE_WORDS = 8;

  /** The first word of the parameter block: the output's length, and a fan-out and depth of 1. */
  private static final int PARAMETERS = 0x0101_0000 | OUTPUT_BYTES;

  private static final int[] INITIAL = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19
  };

  /** The order in which each round mixes the words of the block, as hexadecimal indexes. */
  private static final String[] ROUNDS = {
    "0123456789abcdef",
    "ea489fd61c02b753",
    "b8c052fdae367194",
    "7931dcbe265a40f8",
    "905724afe1bc683d",
    "2c6a0b834d75fe19",
    "c51fed4a0763928b",
    "db7ec13950f4862a",
    "6fe9b308c2d714a5",
    "a2847615fb9e3cd0"
  };

  private static final int HEX = 16;

  private final int[] state = INITIAL.clone();
  private final int[] mixed = new int[2 * STATE_WORDS];
  private final int[] block = new int[BLOCK_WORDS];

  private Blake2s() {
    state[0] ^= PARAMETERS;
  }

  static byte[] hash(byte[] bytes) {
    Blake2s hash = new Blake2s();
    int from = 0;
    while (bytes.length - from > BLOCK_BYTES) {
      hash.compress(Arrays.copyOfRange(bytes, from, from + BLOCK_BYTES), from + BLOCK_BYTES, 0);
      from += BLOCK_BYTES;
    }
    // The last block counts only its actual bytes, although it is padded with zeroes.
    hash.compress(Arrays.copyOfRange(bytes, from, from + BLOCK_BYTES), bytes.length, -1);
    byte[] output = new byte[OUTPUT_BYTES];
    littleEndian(output).asIntBuffer().put(hash.state);
    return output;
  }

  private static ByteBuffer littleEndian(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  private void compress(byte[] bytes, int count, int last) {
    littleEndian(bytes).asIntBuffer().get(block);
    System.arraycopy(state, 0, mixed, 0, STATE_WORDS);
    System.arraycopy(INITIAL, 0, mixed, STATE_WORDS, STATE_WORDS);
    mixed[12] ^= count;
    mixed[14] ^= last;
    for (String round : ROUNDS) {
      round(round);
    }
    for (int i = 0; i < STATE_WORDS; i++) {
      state[i] ^= mixed[i] ^ mixed[i + STATE_WORDS];
    }
  }

  private void round(String words) {
    for (int column = 0; column < 4; column++) {
      mix(words, 2 * column, column, 0);
    }
    for (int diagonal = 0; diagonal < 4; diagonal++) {
      mix(words, 8 + 2 * diagonal, diagonal, 1);
    }
  }

  /**
   * Mixes a column of the four rows or, if {@code shift} is 1, a diagonal: each row is then shifted
   * by one more than the row before.
   */
  private void mix(String words, int at, int column, int shift) {
    int a = column;
    int b = 4 + (column + shift) % 4;
    int c = 8 + (column + 2 * shift) % 4;
    int d = 12 + (column + 3 * shift) % 4;
    mixed[a] += mixed[b] + word(words, at);
    mixed[d] = Integer.rotateRight(mixed[d] ^ mixed[a], 16);
    mixed[c] += mixed[d];
    mixed[b] = Integer.rotateRight(mixed[b] ^ mixed[c], 12);
    mixed[a] += mixed[b] + word(words, at + 1);
    mixed[d] = Integer.rotateRight(mixed[d] ^ mixed[a], 8);
    mixed[c] += mixed[d];
    mixed[b] = Integer.rotateRight(mixed[b] ^ mixed[c], 7);
  }

  private int word(String words, int at) {
    return block[Character.digit(words.charAt(at), HEX)];
  }
}
