package io.inferspan.gateway;

import io.opentelemetry.context.propagation.TextMapSetter;
import java.util.Collection;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * Writes trace context into headers of any kind, and replaces existing trace context.
 *
 * @param <C> the headers
 */
public final class TraceSetter<C> implements TextMapSetter<C> {

  static final String TRACEPARENT = "traceparent";
  private static final String TRACESTATE = "tracestate";

  private final Replace<C> replace;
  private final BiConsumer<C, String> remove;
  private final BiFunction<C, String, ? extends Collection<?>> all;

  /** Replaces all values of a header, ignoring the case of its name. */
  @FunctionalInterface
  public interface Replace<C> {

    /** Replaces a header. */
    void set(C headers, String name, String value);
  }

  /**
   * Creates a setter from functions of the headers.
   *
   * @param all returns all values of a name, ignoring its case
   */
  public TraceSetter(
      Replace<C> replace,
      BiConsumer<C, String> remove,
      BiFunction<C, String, ? extends Collection<?>> all) {
    this.replace = replace;
    this.remove = remove;
    this.all = all;
  }

  @Override
  public void set(@Nullable C headers, String name, String value) {
    if (headers == null) {
      return;
    }
    if (name.equals(TRACEPARENT)) {
      // The existing tracestate may belong to another trace; the caller sets the matching one next.
      remove.accept(headers, TRACESTATE);
    }
    replace.set(headers, name, value);
  }

  /**
   * Removes the trace context if there is more than one {@code traceparent}. Called if no trace
   * context is written, so that a single {@code traceparent} of the client is forwarded.
   */
  void removeDuplicates(C headers) {
    if (all.apply(headers, TRACEPARENT).size() > 1) {
      remove.accept(headers, TRACEPARENT);
      remove.accept(headers, TRACESTATE);
    }
  }
}
