package io.inferspan.ebpf.context;

import io.opentelemetry.context.Context;
import io.opentelemetry.context.ContextStorage;
import io.opentelemetry.context.Scope;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import org.jspecify.annotations.Nullable;

/**
 * Replaces OpenTelemetry's default storage with the same semantics, and publishes every change of a
 * context to the kernel.
 *
 * <p>A wrapper would need three thread-local lookups and two scopes per change; this class needs
 * one of each, and escape analysis can remove the scope. Scopes are not reused, because closing a
 * reused scope a second time would close another scope.
 */
final class ThreadContextStorage implements ContextStorage {

  private static final Logger LOGGER = System.getLogger("io.inferspan.ebpf");

  @Override
  @SuppressWarnings("ReferenceEquality") // as in the default storage
  public Scope attach(@Nullable Context context) {
    ThreadContext here = ThreadContext.here();
    Context before = here.current();
    if (context == null || context == before) {
      return Scope.noop();
    }
    here.change(context);
    return new Attached(here, before, context);
  }

  @Override
  public @Nullable Context current() {
    return ThreadContext.here().current();
  }

  private static final class Attached implements Scope {

    private final ThreadContext opened;
    private final @Nullable Context before;
    private final Context context;
    private boolean closed;

    Attached(ThreadContext opened, @Nullable Context before, Context context) {
      this.opened = opened;
      this.before = before;
      this.context = context;
    }

    @Override
    @SuppressWarnings("ReferenceEquality") // as in the default storage
    public void close() {
      ThreadContext here = opened.isHere() ? opened : ThreadContext.here();
      if (closed || here.current() != context) {
        LOGGER.log(Level.DEBUG, "A scope was closed that is not the current one");
        return;
      }
      closed = true;
      here.change(before);
    }
  }
}
