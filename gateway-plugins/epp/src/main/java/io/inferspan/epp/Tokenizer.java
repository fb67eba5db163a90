package io.inferspan.epp;

import org.jspecify.annotations.Nullable;

/** Tokenises prompts, for scorers that query a KV-cache index; it must not block. */
@FunctionalInterface
public interface Tokenizer {

  /**
   * Returns the same tokens as the model's engine, or null if they are unknown.
   *
   * @param input the prompt or the JSON of the messages in the request's body, which must not be
   *     modified
   */
  int @Nullable [] tokens(String model, byte[] input);
}
