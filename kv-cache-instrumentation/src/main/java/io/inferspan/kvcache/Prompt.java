package io.inferspan.kvcache;

import io.inferspan.kvcache.block.BlockExtras;
import io.inferspan.kvcache.block.BlockKeys;
import org.jspecify.annotations.Nullable;

/** A prompt whose blocks are looked for; it is never shown, not even as text. */
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

  /** Tokens for a model; the array is not copied and not kept past the answer. */
  public static Prompt of(String model, int[] tokens) {
    return new Prompt(model, tokens, null, BlockExtras.none());
  }

  /** The same for a LoRA adapter of the model, which has blocks of its own. */
  public Prompt withLora(String name) {
    return new Prompt(model, tokens, name, extras);
  }

  /** The same with what makes its blocks beside tokens. */
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
