package io.inferspan.ebpf.context;

import io.opentelemetry.context.Context;
import io.opentelemetry.context.ContextStorage;
import io.opentelemetry.context.Scope;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A context storage that publishes the current sampled span of each platform thread to the kernel.
 *
 * <p>OpenTelemetry accepts wrappers of its storage only before the first use, and keeps them. So
 * this one is installed once, and checks at each change of a context whether a bridge is active.
 */
public final class PublishingContextStorage implements ContextStorage {

  private static final AtomicBoolean ADDED = new AtomicBoolean();
  private static final AtomicReference<@Nullable OwnThreads> ACTIVE = new AtomicReference<>();
  private static volatile boolean inUse;

  private final ContextStorage delegate;

  PublishingContextStorage(ContextStorage delegate) {
    this.delegate = delegate;
  }

  /** Installs the wrapper; returns false if OpenTelemetry's context was in use already. */
  public static boolean install() {
    if (ADDED.compareAndSet(false, true)) {
      ContextStorage.addWrapper(PublishingContextStorage::wrapping);
      ContextStorage ignored = ContextStorage.get();
    }
    return inUse;
  }

  private static ContextStorage wrapping(ContextStorage storage) {
    inUse = true;
    return over(storage);
  }

  /** Wraps a custom storage, or replaces the default one. */
  @SuppressWarnings("ReferenceEquality") // there is one default
  static ContextStorage over(ContextStorage storage) {
    return storage == ContextStorage.defaultStorage()
        ? new ThreadContextStorage()
        : new PublishingContextStorage(storage);
  }

  /** Starts publishing for these threads; returns false if another instance is active. */
  public static boolean start(OwnThreads threads) {
    return ACTIVE.compareAndSet(null, threads);
  }

  static void stop(OwnThreads threads) {
    ACTIVE.compareAndSet(threads, null);
  }

  /** Returns the threads of the active bridge, or null if there is none. */
  static @Nullable OwnThreads active() {
    return ACTIVE.getAcquire();
  }

  @Override
  @SuppressWarnings("ReferenceEquality") // there is one scope that does nothing
  public Scope attach(@Nullable Context context) {
    Scope scope = delegate.attach(context);
    if (active() == null || context == null || scope == Scope.noop()) {
      return scope;
    }
    ThreadContext here = ThreadContext.here();
    boolean published = here.isPublished();
    here.publish(context);
    return published || here.isPublished() ? new Published(delegate, scope, here) : scope;
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
   * A scope that publishes the context that is current after it was closed, rather than the one
   * from before it was opened. So a scope that is closed twice, late or out of order does no harm.
   */
  private record Published(ContextStorage storage, Scope scope, ThreadContext opened)
      implements Scope {

    @Override
    public void close() {
      scope.close();
      if (opened.isHere()) {
        opened.publish(storage.current());
      }
    }
  }
}
