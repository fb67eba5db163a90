package io.inferspan.ebpf.context;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.context.Context;
import org.jspecify.annotations.Nullable;

/**
 * One thread's current context and its record for the kernel, in one object, so that a change needs
 * a single thread-local lookup.
 */
final class ThreadContext {

  private static final ThreadLocal<ThreadContext> HERE =
      ThreadLocal.withInitial(ThreadContext::new);

  private final Thread owner = Thread.currentThread();
  private @Nullable Context current;
  private @Nullable ThreadRecord record;

  private ThreadContext() {}

  /** Returns the calling thread's instance. */
  static ThreadContext here() {
    return HERE.get();
  }

  @SuppressWarnings("ReferenceEquality") // compares identities
  boolean isHere() {
    return Thread.currentThread() == owner;
  }

  @Nullable Context current() {
    return current;
  }

  /** Sets the thread's context and publishes it. Must be called on that thread. */
  void change(@Nullable Context context) {
    current = context;
    publish(context);
  }

  /** Publishes the context's span, or nothing if it is not sampled. Never throws. */
  void publish(@Nullable Context context) {
    OwnThreads threads = PublishingContextStorage.active();
    if (threads == null) {
      return;
    }
    SpanContext span = sampled(context);
    ThreadRecord known = record;
    if (known != null && known.isOf(threads)) {
      known.publish(span);
    } else if (span != null && !owner.isVirtual()) {
      record = threads.register();
      record.publish(span);
    }
  }

  /** Returns whether a span is published here. */
  boolean isPublished() {
    ThreadRecord known = record;
    return known != null && known.published() != null;
  }

  private static @Nullable SpanContext sampled(@Nullable Context context) {
    Span span = context == null ? null : Span.fromContextOrNull(context);
    if (span == null) {
      return null;
    }
    SpanContext spanContext = span.getSpanContext();
    return spanContext.isSampled() && spanContext.isValid() ? spanContext : null;
  }
}
