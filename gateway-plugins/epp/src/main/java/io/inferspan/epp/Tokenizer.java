package io.inferspan.epp;

import org.jspecify.annotations.Nullable;

/** Makes tokens of prompts, for scorers that ask a KV-cache index; it must not block. */
@FunctionalInterface
public interface Tokenizer {

  /**
   * The tokens as the model's engine would make them, or null where they are not known.
   *
   * @param input prompt or messages as they stand in the request's body, not to be changed
   */
  int @Nullable [] tokens(String model, byte[] input);
}
