package io.inferspan.catalog;

import io.inferspan.semconv.Attribute;
import io.opentelemetry.api.trace.SpanKind;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A type of span: its name in each naming scheme, its component, its parent and its attributes.
 *
 * <p>All instances are constants of the {@code …Spans} classes of this package, which are generated
 * from the tables in {@code src/main/catalogue}; {@link SpanCatalog} lists them.
 */
public final class SpanType {

  private static final AtomicInteger COUNT = new AtomicInteger();

  private final int index = COUNT.getAndIncrement();
  private final Component component;
  private final @Nullable SpanType parent;
  private final List<String> names;
  private final String parameter;
  private final List<SpanKind> kinds;
  private final List<Attribute<?>> attributes;

  /**
   * Creates a type.
   *
   * @param names the name in each naming scheme; the part from {@code <} on is the parameter
   * @param kinds the kind in the proposal, and in the other schemes
   */
  SpanType(
      Component component,
      @Nullable SpanType parent,
      List<String> names,
      List<SpanKind> kinds,
      List<Attribute<?>> attributes) {
    this.component = component;
    this.parent = parent;
    int end = names.get(0).indexOf('<');
    this.parameter = end < 0 ? "" : names.get(0).substring(end);
    this.names = names.stream().map(name -> name.replace(parameter, "")).toList();
    this.kinds = kinds;
    this.attributes = attributes;
  }

  /** Returns the span's name, without the {@linkplain #parameter() parameter} that completes it. */
  public String name(SpanNaming naming) {
    return switch (naming) {
      case PROPOSAL -> names.get(0);
      case V0_9 -> names.get(1);
      case CURRENT -> names.get(2);
    };
  }

  /**
   * Returns the placeholder that completes the name, such as {@code <type>}; empty for most spans.
   */
  public String parameter() {
    return parameter;
  }

  /** Returns the span's kind. */
  public SpanKind kind(SpanNaming naming) {
    return kinds.get(naming == SpanNaming.PROPOSAL ? 0 : 1);
  }

  /** Returns the component that creates the span. */
  public Component component() {
    return component;
  }

  /** Returns the type of the parent span in the same process, or null if there is none. */
  public @Nullable SpanType parent() {
    return parent;
  }

  /** Returns the span's attributes in addition to {@code error.type}. */
  public List<Attribute<?>> attributes() {
    return attributes;
  }

  /** Returns the type's index in a table of all span types. */
  public int index() {
    return index;
  }

  @Override
  public String toString() {
    return name(SpanNaming.PROPOSAL) + parameter;
  }
}
