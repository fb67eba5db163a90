package io.inferspan.gateway;

import io.opentelemetry.context.propagation.TextMapSetter;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Writes a trace into headers of any kind, in place of another one that may stand there.
 *
 * @param <C> the headers
 */
public final class TraceSetter<C> implements TextMapSetter<C> {

  private static final String TRACEPARENT = "traceparent";
  private static final String TRACESTATE = "tracestate";

  private final Replace<C> replace;
  private final BiConsumer<C, String> remove;

  /** Puts one value in the place of all that a header has, whatever the case of its name. */
  @FunctionalInterface
  public interface Replace<C> {

    /** Replaces a header. */
    void set(C headers, String name, String value);
  }

  /** Writes by these two functions of the headers. */
  public TraceSetter(Replace<C> replace, BiConsumer<C, String> remove) {
    this.replace = replace;
    this.remove = remove;
  }

  @Override
  public void set(@Nullable C headers, String name, String value) {
    if (headers == null) {
      return;
    }
    if (name.equals(TRACEPARENT)) {
      // The state of a trace that goes on follows; that of another one must not.
      remove.accept(headers, TRACESTATE);
    }
    replace.set(headers, name, value);
  }
}
