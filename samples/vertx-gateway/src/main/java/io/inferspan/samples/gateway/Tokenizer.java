package io.inferspan.samples.gateway;

import org.jspecify.annotations.Nullable;

/** Makes tokens of a prompt, for plugins that ask a KV-cache index; it must not block. */
@FunctionalInterface
public interface Tokenizer {

  /**
   * The tokens as the model's engine would make them, or null where they are not known.
   *
   * @param input messages or prompt as they stand in the body
   */
  int @Nullable [] tokens(String model, byte[] input);
}
