package io.inferspan.kvcache.block;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Makes block keys from tokens, as llm-d's Go components make them, bit for bit.
 *
 * <p>A key names all tokens from the start of the prompt to the end of its block; tokens that fill
 * no block have no key. Keys are unsigned numbers of 64 bits. They are not the engine's own hashes.
 */
public final class BlockKeys {

  private final HashAlgorithm algorithm;
  private final byte[] seed;
  private final int blockSizeTokens;

  private BlockKeys(Builder builder) {
    this.algorithm = builder.algorithm;
    this.seed = builder.seed;
    this.blockSizeTokens = builder.blockSizeTokens;
  }

  /** Keys as llm-d makes them by default: {@code cbor-fnv}, no seed, blocks of 16 tokens. */
  public static BlockKeys withDefaults() {
    return builder().build();
  }

  /** Keys for engines that are set up in another way. */
  public static Builder builder() {
    return new Builder();
  }

  /** The name that goes into the keys: the LoRA adapter's where there is one, else the model's. */
  public static String hashedName(String model, @Nullable String loraName) {
    return loraName == null || loraName.isEmpty() ? model : loraName;
  }

  /** How many tokens make a block. */
  public int blockSizeTokens() {
    return blockSizeTokens;
  }

  /**
   * The keys of a prompt.
   *
   * @param model the name of the model, or of the LoRA adapter
   * @param tokens taken as unsigned
   */
  public long[] of(String model, int[] tokens) {
    return of(model, tokens, BlockExtras.none());
  }

  /**
   * The keys of a prompt that is more than its tokens.
   *
   * @throws IllegalArgumentException if {@code extras} are of another number of blocks
   */
  public long[] of(String model, int[] tokens, BlockExtras extras) {
    return after(0, model, tokens, extras);
  }

  /**
   * The keys of tokens that continue a chain.
   *
   * @param parent the key of the block before them; 0 where they start a prompt. A chain that goes
   *     on has the model in its keys, and its salt, so neither is taken again.
   * @throws IllegalArgumentException if {@code extras} are of another number of blocks
   */
  public long[] after(long parent, String model, int[] tokens, BlockExtras extras) {
    long[] keys = new long[tokens.length / blockSizeTokens];
    extras.check(keys.length);
    if (keys.length == 0) {
      return keys;
    }
    BlockHasher hasher = algorithm.hasher(seed);
    long key = parent == 0 ? hasher.root(model) : parent;
    for (int i = 0; i < keys.length; i++) {
      int from = i * blockSizeTokens;
      boolean first = i == 0 && parent == 0;
      key = hasher.next(key, tokens, from, from + blockSizeTokens, extras.at(i, first));
      keys[i] = key;
    }
    return keys;
  }

  /** How keys are to be made; all of it must be as in the other components that share an index. */
  public static final class Builder {

    private HashAlgorithm algorithm = HashAlgorithm.CBOR_FNV;
    private byte[] seed = {};
    private int blockSizeTokens = 16;

    private Builder() {}

    /** {@code cbor-fnv}, the default, or {@code xxh64}. */
    public Builder algorithm(String name) {
      algorithm = HashAlgorithm.parse(name);
      return this;
    }

    /** The engines' {@code PYTHONHASHSEED}; empty by default. */
    public Builder seed(String text) {
      seed = text.getBytes(StandardCharsets.UTF_8);
      return this;
    }

    /** How many tokens make a block; 16 by default. */
    public Builder blockSizeTokens(int tokens) {
      if (tokens < 1) {
        throw new IllegalArgumentException(
            "blockSizeTokens is " + tokens + "; it must be 1 or more");
      }
      blockSizeTokens = tokens;
      return this;
    }

    /** The keys' maker; it may be shared by all threads. */
    public BlockKeys build() {
      return new BlockKeys(this);
    }
  }
}
