package io.inferspan.kvcache.soak;

import io.inferspan.kvcache.Prompt;
import io.inferspan.kvcache.block.BlockExtras;
import io.inferspan.kvcache.block.BlockKeys;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * The prompts of all engines: many share their beginning, some are for a LoRA adapter.
 *
 * <p>A block's key is made here from the whole prompt, not from the block before it, as events have
 * it.
 */
final class Prompts {

  static final String MODEL = "m";
  static final int BLOCK = 16;
  private static final int COUNT = 120;
  private static final int MOST_BLOCKS = 10;
  private static final int SHARED_BLOCKS = 3;
  private static final int FAMILIES = 12;

  /** One of them; no two are compared. */
  @SuppressWarnings("ArrayRecordComponent")
  record Text(int[] tokens, long[] keys, @Nullable String lora) {

    int blocks() {
      return keys.length;
    }

    int[] tokens(int block) {
      return Arrays.copyOfRange(tokens, block * BLOCK, (block + 1) * BLOCK);
    }

    Prompt prompt() {
      Prompt prompt = Prompt.of(MODEL, tokens);
      return lora == null ? prompt : prompt.withLora(lora);
    }
  }

  /** A block of a prompt. */
  record Block(Text text, int position) {

    long key() {
      return text.keys()[position];
    }

    long hash() {
      return hashOf(key());
    }

    @Nullable Block before() {
      return position == 0 ? null : new Block(text, position - 1);
    }
  }

  private final List<Text> texts = new ArrayList<>();

  Prompts(Random random) {
    int[][] beginnings = new int[FAMILIES][];
    Arrays.setAll(beginnings, i -> tokens(random, SHARED_BLOCKS * BLOCK));
    for (int i = 0; i < COUNT; i++) {
      int[] tokens = tokens(random, (1 + random.nextInt(MOST_BLOCKS)) * BLOCK);
      int[] shared = beginnings[i % FAMILIES];
      System.arraycopy(shared, 0, tokens, 0, Math.min(shared.length, tokens.length));
      String lora = i % FAMILIES == 0 ? "adapter" : null;
      long[] keys =
          BlockKeys.withDefaults()
              .of(BlockKeys.hashedName(MODEL, lora), tokens, BlockExtras.none());
      texts.add(new Text(tokens, keys, lora));
    }
  }

  private static int[] tokens(Random random, int count) {
    return random.ints(count, 0, 150_000).toArray();
  }

  /** The engines' own name for a block; all engines have the same, as they have the same seed. */
  static long hashOf(long key) {
    return key * 0x9E3779B97F4A7C15L + 1;
  }

  Text any(Random random) {
    return texts.get(random.nextInt(texts.size()));
  }

  /** The keys of all blocks. */
  long[] keys() {
    return texts.stream().flatMapToLong(text -> Arrays.stream(text.keys())).distinct().toArray();
  }
}
