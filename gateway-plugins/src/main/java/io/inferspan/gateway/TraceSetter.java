package io.inferspan.gateway;

import io.opentelemetry.context.propagation.TextMapSetter;
import java.util.Collection;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * Writes a trace into headers of any kind, in place of another one that may stand there.
 *
 * @param <C> the headers
 */
public final class TraceSetter<C> implements TextMapSetter<C> {

  static final String TRACEPARENT = "traceparent";
  private static final String TRACESTATE = "tracestate";

  private final Replace<C> replace;
  private final BiConsumer<C, String> remove;
  private final BiFunction<C, String, ? extends Collection<?>> all;

  /** Puts one value in the place of all that a header has, whatever the case of its name. */
  @FunctionalInterface
  public interface Replace<C> {

    /** Replaces a header. */
    void set(C headers, String name, String value);
  }

  /**
   * Writes by these functions of the headers.
   *
   * @param all tells all values that leave under a name, whatever its case
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
      // The state of a trace that goes on follows; that of another one must not.
      remove.accept(headers, TRACESTATE);
    }
    replace.set(headers, name, value);
  }

  /**
   * Where nobody traces, a client's trace goes on as it is; but of several one cannot tell which is
   * meant, and no more than one is to leave.
   */
  void dropSeveral(C headers) {
    if (all.apply(headers, TRACEPARENT).size() > 1) {
      remove.accept(headers, TRACEPARENT);
      remove.accept(headers, TRACESTATE);
    }
  }
}
