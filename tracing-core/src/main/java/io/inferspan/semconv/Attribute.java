package io.inferspan.semconv;

import io.opentelemetry.api.common.AttributeKey;
import org.jspecify.annotations.Nullable;

/**
 * A span attribute of the catalogue: its key and its type.
 *
 * <p>An attribute that the GenAI conventions have renamed has two keys; {@link GenAiConvention}
 * selects which of them are written.
 *
 * @param <T> type of the value
 */
public final class Attribute<T> {

  private final AttributeKey<T> key;
  private final @Nullable AttributeKey<T> latestKey;
  private final boolean omittedWhenEmpty;

  Attribute(AttributeKey<T> key, @Nullable AttributeKey<T> latestKey, boolean omittedWhenEmpty) {
    this.key = key;
    this.latestKey = latestKey;
    this.omittedWhenEmpty = omittedWhenEmpty;
  }

  /** Returns the key that llm-d and vLLM use. */
  public AttributeKey<T> key() {
    return key;
  }

  /**
   * Returns the key of the current GenAI conventions if it differs from {@link #key()}, else null.
   */
  public @Nullable AttributeKey<T> latestKey() {
    return latestKey;
  }

  /**
   * Returns whether the attribute is left out for this value: null or, for some attributes, an
   * empty string.
   */
  public boolean omits(@Nullable T value) {
    return value == null || (omittedWhenEmpty && value instanceof String text && text.isEmpty());
  }

  @Override
  public String toString() {
    return key.getKey();
  }
}
