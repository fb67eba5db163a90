package io.inferspan.privacy;

import io.opentelemetry.api.common.AttributeKey;
import java.util.function.BiConsumer;

/** Looks whether all attributes may leave as they are, which is the rule. */
final class CleanCheck implements BiConsumer<AttributeKey<?>, Object> {

  private final AttributePolicy policy;
  private boolean clean = true;

  CleanCheck(AttributePolicy policy) {
    this.policy = policy;
  }

  @Override
  public void accept(AttributeKey<?> key, Object value) {
    clean = clean && policy.allows(key.getKey()) && ValueBounds.isWithin(value);
  }

  boolean clean() {
    return clean;
  }
}
