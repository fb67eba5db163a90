package io.inferspan.ebpf.context;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.ContextStorage;
import io.opentelemetry.context.Scope;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Tells the kernel when a sampled span becomes current on a platform thread, and when it ceases to
 * be.
 *
 * <p>OpenTelemetry takes wrappers of its storage only before it is first used, and keeps them for
 * good; so this one is put there once, and asks each time whether anybody wants to know.
 */
public final class PublishingContextStorage implements ContextStorage {

  private static final AtomicBoolean ADDED = new AtomicBoolean();
  private static final AtomicReference<@Nullable OwnThreads> ACTIVE = new AtomicReference<>();
  private static final ThreadLocal<@Nullable ThreadRecord> RECORD = new ThreadLocal<>();
  private static volatile boolean inUse;

  private final ContextStorage delegate;

  PublishingContextStorage(ContextStorage delegate) {
    this.delegate = delegate;
  }

  /** Puts the wrapper there; false where OpenTelemetry's context was in use already. */
  public static boolean install() {
    if (ADDED.compareAndSet(false, true)) {
      ContextStorage.addWrapper(PublishingContextStorage::wrapping);
      ContextStorage ignored = ContextStorage.get();
    }
    return inUse;
  }

  private static ContextStorage wrapping(ContextStorage storage) {
    inUse = true;
    return new PublishingContextStorage(storage);
  }

  /** Tells of these threads from now on; false where somebody else's are told of. */
  public static boolean start(OwnThreads threads) {
    return ACTIVE.compareAndSet(null, threads);
  }

  static void stop(OwnThreads threads) {
    ACTIVE.compareAndSet(threads, null);
  }

  @Override
  @SuppressWarnings("ReferenceEquality") // there is one scope that does nothing
  public Scope attach(@Nullable Context context) {
    Scope scope = delegate.attach(context);
    OwnThreads threads = ACTIVE.getAcquire();
    if (threads == null || context == null || scope == Scope.noop()) {
      return scope;
    }
    SpanContext shown = shown(context);
    ThreadRecord record = RECORD.get();
    if (record == null || !record.isOf(threads)) {
      if (shown == null || Thread.currentThread().isVirtual()) {
        return scope;
      }
      record = threads.register();
      RECORD.set(record);
    }
    if (record.isRefused() || (shown == null && record.shown() == null)) {
      return scope;
    }
    record.publish(shown);
    return new Published(delegate, scope, record);
  }

  /** The context that the kernel should know, or null. */
  private static @Nullable SpanContext shown(@Nullable Context context) {
    Span span = context == null ? null : Span.fromContextOrNull(context);
    if (span == null) {
      return null;
    }
    SpanContext spanContext = span.getSpanContext();
    return spanContext.isSampled() && spanContext.isValid() ? spanContext : null;
  }

  @Override
  public @Nullable Context current() {
    return delegate.current();
  }

  @Override
  public Context root() {
    return delegate.root();
  }

  /**
   * What is closed when the context leaves. It publishes what is current then, rather than what was
   * before: so a scope that is closed twice, late or out of order does no harm.
   */
  private record Published(ContextStorage storage, Scope scope, ThreadRecord record)
      implements Scope {

    @Override
    @SuppressWarnings("ReferenceEquality") // a thread is itself
    public void close() {
      scope.close();
      if (Thread.currentThread() == record.owner()) {
        record.publish(shown(storage.current()));
      }
    }
  }
}
