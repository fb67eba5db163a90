package io.inferspan.epp;

import io.opentelemetry.context.Context;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * One scheduling cycle of a request: the request, its trace, its deadline, and values that plugins
 * pass to later plugins (notes).
 *
 * <p>Plugins run sequentially, but a plugin that missed the deadline may still be running, so any
 * thread may store a note.
 */
public final class Cycle {

  private final InferenceRequest request;
  private final Context context;
  private final long deadlineNanos;
  private final Map<Class<?>, Object> notes = new ConcurrentHashMap<>();

  /**
   * Starts a scheduling cycle.
   *
   * @param context the trace context of the cycle
   * @param deadlineNanos the deadline, in the time of {@link System#nanoTime()}
   */
  public Cycle(InferenceRequest request, Context context, long deadlineNanos) {
    this.request = request;
    this.context = context;
    this.deadlineNanos = deadlineNanos;
  }

  /** Returns the request. */
  public InferenceRequest request() {
    return request;
  }

  /** Returns the trace context of the cycle. */
  public Context context() {
    return context;
  }

  /** Returns the time until the deadline; zero or less once it has passed. */
  public long nanosLeft() {
    return deadlineNanos - System.nanoTime();
  }

  /** Stores a note, which replaces an earlier one of the same type. */
  public <T> void leave(Class<T> type, T note) {
    notes.put(type, note);
  }

  /** Returns the note of this type, or null if there is none. */
  public <T> @Nullable T note(Class<T> type) {
    return type.cast(notes.get(type));
  }
}
