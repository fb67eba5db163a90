package io.inferspan.ebpf.context;

import io.inferspan.ebpf.linux.Threads;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.context.Context;
import org.jspecify.annotations.Nullable;

/** Contexts that a thread may serve, and how the fake kernel's side writes them. */
final class Served {

  static final String TRACE = "0af7651916cd43dd8448eb211c80319c";

  private Served() {}

  static OwnThreads ownThreads(FakeTable table, @Nullable ContextListener listener) {
    return new OwnThreads(table.memory, table, Threads::currentTid, listener, silent());
  }

  /** A signal that is off. */
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

  static String told(int span) {
    return TRACE + "-%016x".formatted(span);
  }
}
