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
import org.jspecify.annotations.Nullable;

/**
 * The traces that are kept. The one that has been silent for longest goes first; what goes is
 * counted.
 *
 * <p>Any thread may call. Spans come in cheaply; {@link #settle} then makes summaries of the traces
 * that have changed, and finds those of which nothing comes any more.
 */
public final class SpanStore {

  /**
   * Of a trace that lacks spans and is silent for so long, no more is waited for: so that what a
   * dead process leaves behind is listed as broken well within two seconds.
   */
  static final long QUIET_NANOS = TimeUnit.MILLISECONDS.toNanos(1_200);

  /** A trace is not summarised again before its last summary is this old, for each span. */
  private static final long REST_NANOS_PER_SPAN = TimeUnit.MICROSECONDS.toNanos(50);

  /** As much is summarised at a time, a few milliseconds' work: a search waits for no more. */
  private static final int SPANS_AT_A_TIME = 250;

  private final Bounds bounds;
  private final Drops drops;
  private final Summariser summariser;
  private final LongSupplier clock;
  private final SummaryList list = new SummaryList();
  private final ReentrantLock lock = new ReentrantLock();

  /**
   * Fair, so that who searches has his turn next, and whoever works off a backlog sees him wait.
   */
  private final ReentrantLock settling = new ReentrantLock(true);

  /** The longest silent first. */
  private final Map<TraceId, StoredTrace> traces = new LinkedHashMap<>();

  private final Set<StoredTrace> changed = new LinkedHashSet<>();

  /** Those that lack spans, the longest silent first. */
  private final Set<StoredTrace> incomplete = new LinkedHashSet<>();

  private long spanCount;
  private long byteCount;
  private long received;

  /** An empty store. */
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
   * What the store holds.
   *
   * @param received spans that came, kept or not
   */
  public record Size(long spans, long traces, long bytes, long received, long maxSpans) {}

  /** Takes spans. */
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
    if (!bounds.holdOneMore(trace, span.isRoot())) {
      trace.cutOne();
      drops.count(Drop.TRACE_FULL, 1);
      return;
    }
    trace.add(span);
    spanCount++;
    byteCount += span.cost();
    while (!bounds.hold(spanCount, byteCount) && traces.size() > 1) {
      evictOldest();
    }
  }

  /** The trace, moved to where the latest are. */
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
    list.remove(oldest.summary());
    drops.count(Drop.OLDEST_TRACE, oldest.size());
  }

  /**
   * Brings the list up to date; of a backlog, as much as can be done in time but never nothing, the
   * oldest change first. Once somebody else waits to do so, the rest is left: he is to have the
   * processor for his search, too.
   */
  public void settle(long patienceNanos) {
    long now = clock.getAsLong();
    boolean more;
    do {
      more = settleSome(now);
    } while (more && clock.getAsLong() - now <= patienceNanos);
  }

  /** Whether there may be more to do, and nobody else to do it. */
  private boolean settleSome(long now) {
    settling.lock();
    try {
      List<Work> due = due(now);
      for (Work work : due) {
        // Without the lock: spans go on coming in meanwhile.
        Summary made = summary(work.spans);
        if (made != null) {
          finish(work, made, now);
        }
      }
      // Asked before the lock is let go: he who has it then waits no more.
      return !due.isEmpty() && !settling.hasQueuedThreads();
    } finally {
      settling.unlock();
    }
  }

  /** Null where it cannot be made, so that one trace does not take the others' lines with it. */
  private @Nullable Summary summary(TraceSpans spans) {
    try {
      return summariser.summarise(spans);
    } catch (RuntimeException e) {
      drops.count(Drop.NOT_SUMMARISED, 1);
      return null;
    }
  }

  /** A trace to be summarised, as it is now. */
  private record Work(StoredTrace trace, TraceSpans spans) {}

  /** Some of what is to be summarised. */
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
      trace.summarised(made.saysTheSameAs(before) ? before : list.replace(before, made), now);
      if (made.outcome().missing() && !work.spans.quiet()) {
        incomplete.add(trace);
      }
    } finally {
      lock.unlock();
    }
  }

  /** What has come of a trace; null where there is none, or no more. */
  public @Nullable TraceSpans find(TraceId id) {
    lock.lock();
    try {
      StoredTrace trace = traces.get(id);
      return trace == null ? null : trace.snapshot(isQuiet(trace, clock.getAsLong()));
    } finally {
      lock.unlock();
    }
  }

  /** The trace's line in the list; null where there is none yet, or no more. */
  public @Nullable Summary summary(TraceId id) {
    lock.lock();
    try {
      StoredTrace trace = traces.get(id);
      return trace == null ? null : trace.summary();
    } finally {
      lock.unlock();
    }
  }

  /** The list of all traces. */
  public SummaryList list() {
    return list;
  }

  /** What the store holds now. */
  public Size size() {
    lock.lock();
    try {
      return new Size(spanCount, traces.size(), byteCount, received, bounds.maxSpans());
    } finally {
      lock.unlock();
    }
  }
}
