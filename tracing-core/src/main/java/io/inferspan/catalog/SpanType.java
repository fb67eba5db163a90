package io.inferspan.catalog;

import io.inferspan.semconv.Attribute;
import io.opentelemetry.api.trace.SpanKind;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A type of span: its name in each naming scheme, its component, its parent and its attributes.
 *
 * <p>All instances are constants of the {@code …Spans} classes of this package; {@link SpanCatalog}
 * lists them.
 */
public final class SpanType {

  private static final AtomicInteger COUNT = new AtomicInteger();

  private final int index = COUNT.getAndIncrement();
  private final String proposalName;
  private final String name09;
  private final String currentName;
  private final String parameter;
  private final Component component;
  private final SpanKind proposalKind;
  private final SpanKind kind;
  private final @Nullable SpanType parent;
  private final List<Attribute<?>> attributes;

  private SpanType(Builder builder) {
    this.proposalName = builder.proposalName;
    this.name09 = builder.name09;
    this.currentName = builder.currentName;
    this.parameter = builder.parameter;
    this.component = builder.component;
    this.proposalKind = builder.proposalKind;
    this.kind = builder.kind;
    this.parent = builder.parent;
    this.attributes = builder.attributes;
  }

  static Builder span(Component component, String name) {
    return new Builder(component, name);
  }

  /** Returns the span's name, without the {@linkplain #parameter() parameter} that completes it. */
  public String name(SpanNaming naming) {
    if (naming == SpanNaming.PROPOSAL) {
      return proposalName;
    }
    return naming == SpanNaming.V0_9 ? name09 : currentName;
  }

  /**
   * Returns the placeholder that completes the name, such as {@code <type>}; empty for most spans.
   */
  public String parameter() {
    return parameter;
  }

  /** Returns the span's kind. */
  public SpanKind kind(SpanNaming naming) {
    return naming == SpanNaming.PROPOSAL ? proposalKind : kind;
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
    return proposalName + parameter;
  }

  /** Builder for a span type. */
  static final class Builder {
    private final Component component;
    private String proposalName;
    private String name09;
    private String currentName;
    private String parameter = "";
    private SpanKind proposalKind = SpanKind.INTERNAL;
    private SpanKind kind = SpanKind.INTERNAL;
    private @Nullable SpanType parent;
    private List<Attribute<?>> attributes = List.of();

    private Builder(Component component, String name) {
      this.component = component;
      this.proposalName = name;
      this.name09 = name;
      this.currentName = name;
    }

    /** Sets the name from release 0.9 on. */
    Builder since09(String name) {
      this.name09 = name;
      this.currentName = name;
      return this;
    }

    /** Sets the name after release 0.10. */
    Builder after010(String name) {
      this.currentName = name;
      return this;
    }

    Builder parameter(String parameter) {
      this.parameter = parameter;
      return this;
    }

    Builder kind(SpanKind kind) {
      this.proposalKind = kind;
      this.kind = kind;
      return this;
    }

    Builder kindInProposal(SpanKind kind) {
      this.proposalKind = kind;
      return this;
    }

    Builder under(SpanType parent) {
      this.parent = parent;
      return this;
    }

    Builder carries(Attribute<?>... attributes) {
      this.attributes = List.of(attributes);
      return this;
    }

    SpanType build() {
      return new SpanType(this);
    }
  }
}
