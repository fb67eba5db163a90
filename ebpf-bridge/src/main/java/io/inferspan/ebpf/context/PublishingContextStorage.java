package io.inferspan.ebpf.context;

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
    return over(storage);
  }

  /** What tells of switches: beside a storage of somebody else's, in the place of the default. */
  @SuppressWarnings("ReferenceEquality") // there is one default
  static ContextStorage over(ContextStorage storage) {
    return storage == ContextStorage.defaultStorage()
        ? new ThreadContextStorage()
        : new PublishingContextStorage(storage);
  }

  /** Tells of these threads from now on; false where somebody else's are told of. */
  public static boolean start(OwnThreads threads) {
    return ACTIVE.compareAndSet(null, threads);
  }

  static void stop(OwnThreads threads) {
    ACTIVE.compareAndSet(threads, null);
  }

  /** Whose threads the kernel is told of now, if anybody's. */
  static @Nullable OwnThreads told() {
    return ACTIVE.getAcquire();
  }

  @Override
  @SuppressWarnings("ReferenceEquality") // there is one scope that does nothing
  public Scope attach(@Nullable Context context) {
    Scope scope = delegate.attach(context);
    if (told() == null || context == null || scope == Scope.noop()) {
      return scope;
    }
    ThreadContext here = ThreadContext.here();
    boolean shown = here.isShown();
    here.show(context);
    return shown || here.isShown() ? new Published(delegate, scope, here) : scope;
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
  private record Published(ContextStorage storage, Scope scope, ThreadContext opened)
      implements Scope {

    @Override
    public void close() {
      scope.close();
      if (opened.isHere()) {
        opened.show(storage.current());
      }
    }
  }
}
