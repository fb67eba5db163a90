package io.inferspan.kvcache.block;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class XxHash64Test {

  private static final long SEED = 20261121;

  /** Lengths and the answers of xxhsum 0.8.1 for bytes {@code i * 37 + 11}. */
  private static final Object[][] KNOWN = {
    {0, "ef46db3751d8e999"},
    {1, "f592c0c7639c4cb6"},
    {3, "22c08528601d4f27"},
    {4, "fb1e5cf2f1ae4d95"},
    {7, "5613ac510496c04e"},
    {8, "57cb2b7521f3e21a"},
    {9, "c3f1d09775257b66"},
    {15, "90a9714eb00e8d29"},
    {16, "c6843cef99721174"},
    {31, "e4a0e629e519a4ae"},
    {32, "cc6b8aaada790b2d"},
    {33, "35ec49850475a832"},
    {39, "22984e41b53c1210"},
    {40, "3b21ed23eea85c2d"},
    {63, "bf9f0ba3cf95b28a"},
    {64, "155ccce4bf32befc"},
    {65, "da5ee441a595cfb8"},
    {72, "657fc372b173aae2"},
    {100, "4826e367566ea023"},
    {255, "178ea4a7d2319abe"},
  };

  private final XxHash64 hash = new XxHash64();

  @Test
  void answersOfEveryLengthClass_areThoseOfXxhsum() {
    for (Object[] known : KNOWN) {
      byte[] octets = new byte[(int) known[0]];
      for (int i = 0; i < octets.length; i++) {
        octets[i] = (byte) (i * 37 + 11);
      }
      hash.update(octets);
      assertThat(Long.toHexString(hash.finish())).as("length %s", known[0]).isEqualTo(known[1]);
    }
  }

  @Test
  void publishedAnswers_areKept() {
    assertThat(of("a")).isEqualTo("d24ec4f1a98c6e5b");
    assertThat(of("abc")).isEqualTo("44bc2cf5ad770999");
  }

  @Test
  void piecesOfAnySize_haveTheHashOfTheWhole() {
    SplittableRandom random = new SplittableRandom(SEED);
    for (int round = 0; round < 20_000; round++) {
      byte[] whole = new byte[random.nextInt(140)];
      random.nextBytes(whole);
      hash.update(whole);
      long expected = hash.finish();

      inPieces(whole, random);
      assertThat(hash.finish()).as("seed %d, round %d", SEED, round).isEqualTo(expected);
    }
  }

  private void inPieces(byte[] whole, SplittableRandom random) {
    int at = 0;
    while (at < whole.length) {
      int left = whole.length - at;
      switch (random.nextInt(3)) {
        case 0 -> {
          int ints = random.nextInt(left / Integer.BYTES + 1);
          hash.update(ints(whole, at, ints), 0, ints);
          at += ints * Integer.BYTES;
        }
        case 1 -> {
          if (left >= Long.BYTES) {
            int[] halves = ints(whole, at, 2);
            hash.update(Integer.toUnsignedLong(halves[0]) | (long) halves[1] << 32);
            at += Long.BYTES;
          }
        }
        default -> {
          int bytes = random.nextInt(left + 1);
          hash.update(Arrays.copyOfRange(whole, at, at + bytes));
          at += bytes;
        }
      }
    }
  }

  private static int[] ints(byte[] octets, int from, int count) {
    int[] ints = new int[count];
    for (int i = 0; i < count * Integer.BYTES; i++) {
      ints[i / 4] |= (octets[from + i] & 0xff) << (i % 4 * 8);
    }
    return ints;
  }

  private String of(String text) {
    hash.update(text.getBytes(StandardCharsets.US_ASCII));
    return Long.toHexString(hash.finish());
  }
}
