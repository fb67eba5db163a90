package io.inferspan.kvcache.block;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Computes block keys from tokens, bit for bit as llm-d's Go components do.
 *
 * <p>A key identifies all tokens from the start of the prompt to the end of its block; a partial
 * block has no key. Keys are unsigned 64-bit numbers. They differ from the engine's own hashes.
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

  /** Creates keys with llm-d's defaults: {@code cbor-fnv}, no seed, blocks of 16 tokens. */
  public static BlockKeys withDefaults() {
    return builder().build();
  }

  /** Returns a builder for engines with other settings. */
  public static Builder builder() {
    return new Builder();
  }

  /** Returns the name that is hashed: the LoRA adapter's if there is one, else the model's. */
  public static String hashedName(String model, @Nullable String loraName) {
    return loraName == null || loraName.isEmpty() ? model : loraName;
  }

  /** Returns the number of tokens in a block. */
  public int blockSizeTokens() {
    return blockSizeTokens;
  }

  /**
   * Returns the keys of a prompt.
   *
   * @param model the name of the model, or of the LoRA adapter
   * @param tokens the tokens, read as unsigned
   */
  public long[] of(String model, int[] tokens) {
    return of(model, tokens, BlockExtras.none());
  }

  /**
   * Returns the keys of a prompt that contains more than tokens.
   *
   * @throws IllegalArgumentException if {@code extras} are for another number of blocks
   */
  public long[] of(String model, int[] tokens, BlockExtras extras) {
    return after(0, model, tokens, extras);
  }

  /**
   * Returns the keys of tokens that continue a chain.
   *
   * @param parent the key of the preceding block; 0 if the tokens start a prompt. The parent's key
   *     already covers the model and the salt, so neither is hashed again.
   * @throws IllegalArgumentException if {@code extras} are for another number of blocks
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

  /** Builder for {@link BlockKeys}. All components that share an index need the same settings. */
  public static final class Builder {

    private HashAlgorithm algorithm = HashAlgorithm.CBOR_FNV;
    private byte[] seed = {};
    private int blockSizeTokens = 16;

    private Builder() {}

    /** Sets the algorithm: {@code cbor-fnv}, the default, or {@code xxh64}. */
    public Builder algorithm(String name) {
      algorithm = HashAlgorithm.parse(name);
      return this;
    }

    /** Sets the engines' {@code PYTHONHASHSEED}; empty by default. */
    public Builder seed(String text) {
      seed = text.getBytes(StandardCharsets.UTF_8);
      return this;
    }

    /** Sets the number of tokens in a block; 16 by default. */
    public Builder blockSizeTokens(int tokens) {
      if (tokens < 1) {
        throw new IllegalArgumentException(
            "blockSizeTokens is " + tokens + "; it must be 1 or more");
      }
      blockSizeTokens = tokens;
      return this;
    }

    /** Builds the instance, which is thread-safe. */
    public BlockKeys build() {
      return new BlockKeys(this);
    }
  }
}
