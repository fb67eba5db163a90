package io.inferspan.samples.desk.store;

import io.inferspan.samples.desk.otlp.Drop;
import io.inferspan.samples.desk.otlp.Drops;
import io.inferspan.samples.desk.otlp.Received;
import io.inferspan.samples.desk.otlp.StoredSpan;
import io.inferspan.samples.desk.otlp.TraceId;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The traces in memory. When the store is full, it drops and counts the trace that has had no new
 * span for the longest time.
 *
 * <p>Thread-safe. {@link #add} only stores spans; {@link #summarise} updates the summaries of
 * changed traces, and marks traces that stay incomplete as broken.
 */
public final class SpanStore {

  /**
   * The time without new spans after which a trace with a missing parent span is broken. If a
   * process dies, its open traces are therefore listed as broken within two seconds.
   */
  static final long QUIET_NANOS = TimeUnit.MILLISECONDS.toNanos(1_200);

  /**
   * The minimum time between two summaries of a trace, per span of the trace; a large trace is
   * summarised less often.
   */
  private static final long REST_NANOS_PER_SPAN = TimeUnit.MICROSECONDS.toNanos(50);

  /**
   * The number of spans summarised per batch. A caller of {@link #summarise} may wait for another
   * caller's batch, which takes a few milliseconds.
   */
  private static final int SPANS_AT_A_TIME = 250;

  private final Bounds bounds;
  private final Drops drops;
  private final Summariser summariser;
  private final LongSupplier clock;
  private final SummaryList list = new SummaryList();
  private final ReentrantLock lock = new ReentrantLock();

  /**
   * Held while a batch is summarised. Fair, so that a second caller waits for one batch of the
   * first caller, and not for all its batches.
   */
  private final ReentrantLock summarising = new ReentrantLock(true);

  /** In the order of their last new span, oldest first. */
  private final Map<TraceId, StoredTrace> traces = new LinkedHashMap<>();

  /** Traces with spans that no summary contains yet, oldest change first. */
  private final Set<StoredTrace> changed = new LinkedHashSet<>();

  /** Incomplete traces, in the order of their last new span. */
  private final Set<StoredTrace> incomplete = new LinkedHashSet<>();

  private long spanCount;
  private long byteCount;
  private long received;

  /** Creates an empty store. */
  public SpanStore(Bounds bounds, Drops drops, Summariser summariser) {
    this(bounds, drops, summariser, System::nanoTime);
  }

  SpanStore(Bounds bounds, Drops drops, Summariser summariser, LongSupplier clock) {
    this.bounds = bounds;
    this.drops = drops;
    this.summariser = summariser;
    this.clock = clock;
  }

  /**
   * The size of the store.
   *
   * @param received the number of received spans, stored or not
   */
  public record Size(long spans, long traces, long bytes, long received, long maxSpans) {}

  /** Adds received spans, and drops the oldest traces if the store is full. */
  public void add(List<Received> spans) {
    long now = clock.getAsLong();
    lock.lock();
    try {
      received += spans.size();
      for (Received one : spans) {
        add(one.trace(), one.span(), now);
      }
    } finally {
      lock.unlock();
    }
  }

  private void add(TraceId id, StoredSpan span, long now) {
    StoredTrace trace = touched(id, now);
    if (!bounds.hasRoomFor(trace, span.isRoot())) {
      trace.cutOne();
      drops.count(Drop.TRACE_FULL, 1);
      return;
    }
    trace.add(span);
    spanCount++;
    byteCount += span.cost();
    while (!bounds.allows(spanCount, byteCount) && traces.size() > 1) {
      evictOldest();
    }
  }

  /** Returns the trace, and moves it to the end of the eviction order. */
  private StoredTrace touched(TraceId id, long now) {
    StoredTrace trace = traces.remove(id);
    if (trace == null) {
      trace = new StoredTrace(id);
      byteCount += StoredTrace.OVERHEAD_BYTES;
    }
    traces.put(id, trace);
    trace.arrived(now);
    changed.add(trace);
    if (incomplete.remove(trace)) {
      incomplete.add(trace);
    }
    return trace;
  }

  private void evictOldest() {
    Iterator<StoredTrace> oldestFirst = traces.values().iterator();
    StoredTrace oldest = oldestFirst.next();
    oldestFirst.remove();
    oldest.leave();
    spanCount -= oldest.size();
    byteCount -= oldest.bytes();
    changed.remove(oldest);
    incomplete.remove(oldest);
    list.toPast(oldest.summary());
    drops.count(Drop.OLDEST_TRACE, oldest.size());
  }

  /**
   * Summarises changed traces, oldest change first, for about {@code limitNanos}, but at least one
   * batch. Stops early if another thread waits to summarise.
   */
  public void summarise(long limitNanos) {
    long now = clock.getAsLong();
    boolean more;
    do {
      more = summariseSome(now);
    } while (more && clock.getAsLong() - now <= limitNanos);
  }

  /** Summarises one batch; returns whether there may be more and no other thread waits. */
  private boolean summariseSome(long now) {
    summarising.lock();
    try {
      List<Work> due = due(now);
      for (Work work : due) {
        // Not under the store's lock, so that other threads can add spans.
        Summary made = summary(work.spans);
        if (made != null) {
          finish(work, made, now);
        }
      }
      // Check before unlocking: afterwards, the waiting thread may have left the queue.
      return !due.isEmpty() && !summarising.hasQueuedThreads();
    } finally {
      summarising.unlock();
    }
  }

  /**
   * Returns the summary, or null if the summariser throws, so that one trace does not affect
   * others.
   */
  private @Nullable Summary summary(TraceSpans spans) {
    try {
      return summariser.summarise(spans);
    } catch (RuntimeException e) {
      drops.count(Drop.NOT_SUMMARISED, 1);
      return null;
    }
  }

  /** A trace to summarise, with a snapshot of its spans. */
  private record Work(StoredTrace trace, TraceSpans spans) {}

  /** Returns the next traces to summarise. */
  private List<Work> due(long now) {
    List<Work> due = new ArrayList<>();
    lock.lock();
    try {
      int room = SPANS_AT_A_TIME;
      for (Iterator<StoredTrace> all = changed.iterator(); all.hasNext() && room > 0; ) {
        StoredTrace trace = all.next();
        long rest = trace.size() * REST_NANOS_PER_SPAN;
        if (trace.summary() == null || now - trace.summarisedNanos() >= rest) {
          all.remove();
          incomplete.remove(trace);
          due.add(new Work(trace, trace.snapshot(isQuiet(trace, now))));
          room -= trace.size();
        }
      }
      for (Iterator<StoredTrace> all = incomplete.iterator(); all.hasNext() && room > 0; ) {
        StoredTrace trace = all.next();
        if (!isQuiet(trace, now)) {
          break;
        }
        all.remove();
        due.add(new Work(trace, trace.snapshot(true)));
        room -= trace.size();
      }
    } finally {
      lock.unlock();
    }
    return due;
  }

  private static boolean isQuiet(StoredTrace trace, long now) {
    return now - trace.lastArrivalNanos() >= QUIET_NANOS;
  }

  private void finish(Work work, Summary made, long now) {
    lock.lock();
    try {
      StoredTrace trace = work.trace;
      if (trace.isGone()) {
        return;
      }
      Summary before = trace.summary();
      trace.summarised(made.equalsIgnoringSeq(before) ? before : list.replace(before, made), now);
      if (made.outcome().missing() && !work.spans.quiet()) {
        incomplete.add(trace);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Returns the spans of a trace, or null if the store does not have it. */
  public @Nullable TraceSpans find(TraceId id) {
    lock.lock();
    try {
      StoredTrace trace = traces.get(id);
      return trace == null ? null : trace.snapshot(isQuiet(trace, clock.getAsLong()));
    } finally {
      lock.unlock();
    }
  }

  /**
   * Returns traces that contain a matching span, up to the limit, in the order of their last new
   * span.
   */
  public List<TraceSpans> having(Predicate<StoredSpan> wanted, int limit) {
    lock.lock();
    try {
      return traces.values().stream()
          .filter(trace -> trace.has(wanted))
          .limit(limit)
          .map(trace -> trace.snapshot(true))
          .toList();
    } finally {
      lock.unlock();
    }
  }

  /** Returns the summary of a trace, or null if it has none yet or was dropped. */
  public @Nullable Summary summary(TraceId id) {
    lock.lock();
    try {
      StoredTrace trace = traces.get(id);
      return trace == null ? null : trace.summary();
    } finally {
      lock.unlock();
    }
  }

  /** Returns the list of all traces. */
  public SummaryList list() {
    return list;
  }

  /** Returns the current size. */
  public Size size() {
    lock.lock();
    try {
      return new Size(spanCount, traces.size(), byteCount, received, bounds.maxSpans());
    } finally {
      lock.unlock();
    }
  }
}
