package io.inferspan.semconv;

import io.opentelemetry.api.common.AttributeKey;
import java.util.List;
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

  private Attribute(
      AttributeKey<T> key, @Nullable AttributeKey<T> latestKey, boolean omittedWhenEmpty) {
    this.key = key;
    this.latestKey = latestKey;
    this.omittedWhenEmpty = omittedWhenEmpty;
  }

  static Attribute<String> text(String key) {
    return new Attribute<>(AttributeKey.stringKey(key), null, false);
  }

  static Attribute<Long> count(String key) {
    return new Attribute<>(AttributeKey.longKey(key), null, false);
  }

  static Attribute<Double> number(String key) {
    return new Attribute<>(AttributeKey.doubleKey(key), null, false);
  }

  static Attribute<Boolean> flag(String key) {
    return new Attribute<>(AttributeKey.booleanKey(key), null, false);
  }

  static Attribute<List<String>> texts(String key) {
    return new Attribute<>(AttributeKey.stringArrayKey(key), null, false);
  }

  static Attribute<List<Double>> numbers(String key) {
    return new Attribute<>(AttributeKey.doubleArrayKey(key), null, false);
  }

  /** Returns a copy that also has a key of the current GenAI conventions. */
  Attribute<T> renamedTo(AttributeKey<T> latest) {
    return new Attribute<>(key, latest, omittedWhenEmpty);
  }

  /** Returns a copy that is not written if its value is the empty string. */
  Attribute<T> omittedWhenEmpty() {
    return new Attribute<>(key, latestKey, true);
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

  /** Returns whether the attribute is not written if it has this value. */
  public boolean omits(@Nullable T value) {
    return value == null || (omittedWhenEmpty && value instanceof String text && text.isEmpty());
  }

  @Override
  public String toString() {
    return key.getKey();
  }
}
