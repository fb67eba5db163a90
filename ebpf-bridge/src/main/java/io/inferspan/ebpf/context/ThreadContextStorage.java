package io.inferspan.ebpf.context;

import io.opentelemetry.context.Context;
import io.opentelemetry.context.ContextStorage;
import io.opentelemetry.context.Scope;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import org.jspecify.annotations.Nullable;

/**
 * Stands in for OpenTelemetry's default storage, with the same rules, and tells the kernel of every
 * switch.
 *
 * <p>A wrapper would look for the thread's context three times a switch and make two scopes; this
 * one looks once and makes one, which the compiler can leave out. Scopes are not used again: a
 * second close by whoever had one before would end another's.
 */
final class ThreadContextStorage implements ContextStorage {

  private static final Logger LOGGER = System.getLogger("io.inferspan.ebpf");

  @Override
  @SuppressWarnings("ReferenceEquality") // as the default storage has it
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
    @SuppressWarnings("ReferenceEquality") // as the default storage has it
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
