package io.inferspan.kvcache;

import io.inferspan.kvcache.block.BlockExtras;
import io.inferspan.kvcache.block.BlockKeys;
import org.jspecify.annotations.Nullable;

/** A prompt to look up. It is never printed, not even by {@code toString()}. */
public final class Prompt {

  private final String model;
  private final int[] tokens;
  private final @Nullable String loraName;
  private final BlockExtras extras;

  private Prompt(String model, int[] tokens, @Nullable String loraName, BlockExtras extras) {
    this.model = model;
    this.tokens = tokens;
    this.loraName = loraName;
    this.extras = extras;
  }

  /**
   * Creates a prompt from tokens for a model. The array is not copied, and not used after the
   * lookup.
   */
  public static Prompt of(String model, int[] tokens) {
    return new Prompt(model, tokens, null, BlockExtras.none());
  }

  /** Returns the same prompt for a LoRA adapter of the model, whose blocks are separate. */
  public Prompt withLora(String name) {
    return new Prompt(model, tokens, name, extras);
  }

  /**
   * Returns the same prompt with the content that its blocks have in addition to tokens, such as
   * images.
   */
  public Prompt withExtras(BlockExtras others) {
    return new Prompt(model, tokens, loraName, others);
  }

  String model() {
    return model;
  }

  int tokens() {
    return tokens.length;
  }

  long[] keys(BlockKeys blockKeys) {
    return blockKeys.of(BlockKeys.hashedName(model, loraName), tokens, extras);
  }
}
