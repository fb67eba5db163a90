package io.inferspan.ebpf.context;

import io.inferspan.ebpf.linux.Threads;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.context.Context;
import org.jspecify.annotations.Nullable;

/** Contexts for tests, and their ids as {@link FakeThreadMap#contextOf} returns them. */
final class TestContexts {

  static final String TRACE = "0af7651916cd43dd8448eb211c80319c";

  private TestContexts() {}

  static OwnThreads ownThreads(FakeThreadMap table, @Nullable ContextListener listener) {
    return new OwnThreads(table.memory, table, Threads::currentTid, listener, silent());
  }

  /** Returns a disabled signal. */
  static ContextSignal silent() {
    return new ContextSignal(owner -> {});
  }

  static Context sampled(int span) {
    return context(span, TraceFlags.getSampled());
  }

  static Context unsampled(int span) {
    return context(span, TraceFlags.getDefault());
  }

  static Context context(int span, TraceFlags flags) {
    SpanContext context =
        SpanContext.create(TRACE, "%016x".formatted(span), flags, TraceState.getDefault());
    return Context.root().with(Span.wrap(context));
  }

  static String ids(int span) {
    return TRACE + "-%016x".formatted(span);
  }
}
