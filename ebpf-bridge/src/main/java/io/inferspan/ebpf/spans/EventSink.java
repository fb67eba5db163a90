package io.inferspan.ebpf.spans;

import io.inferspan.Telemetry;
import io.inferspan.ebpf.batch.BatchCounters;
import io.inferspan.ebpf.batch.EngineSteps;
import io.inferspan.ebpf.batch.Step;
import io.inferspan.ebpf.clock.ClockOffset.Interval;
import io.inferspan.ebpf.clock.ReferenceClock;
import io.inferspan.ebpf.probe.ProcessIdentity;
import io.inferspan.ebpf.ring.EventHandler;
import io.inferspan.ebpf.spans.SpanAccounting.Drop;
import io.inferspan.ebpf.wire.EventClass;
import io.inferspan.ebpf.wire.EventView;
import io.inferspan.ebpf.wire.Family;
import io.inferspan.ebpf.wire.KernelSum;
import io.inferspan.ebpf.wire.KernelSums;
import io.inferspan.ebpf.wire.Kind;
import io.inferspan.ebpf.wire.Owner;
import io.inferspan.ebpf.wire.Source;
import io.opentelemetry.context.Context;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Receives events on the ring's thread and groups them by request. The events of a request are
 * written when the request has ended, had no event for some time, or has run for a long time.
 */
public final class EventSink implements EventHandler, EngineSteps.Host {

  private static final Logger LOGGER = System.getLogger("io.inferspan.ebpf");
  private static final long TIDY_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  /** The interval of housekeeping while no request is open, because it costs system calls. */
  private static final long TIDY_AT_REST_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** The limit of requests that begin before the probes are attached again. */
  private static final int MAX_UNSEEN = 256;

  private final FoldOptions options;
  private final Sources sources;
  private final SpanAccounting accounting = new SpanAccounting();
  private final LossTimeline losses = new LossTimeline();
  private final OpenRequests requests;
  private final Owners owners;
  private final ProcessTable processes;
  private final SpanWriter writer;
  private final EngineSteps steps;
  private final KernelClock clock;
  private final DetailKey detailKey;
  private final LevelTimeline levels = new LevelTimeline();
  private final Queue<Unseen> unseen = new ArrayBlockingQueue<>(MAX_UNSEEN);

  /** Set once per read of the ring, because reading a clock costs more than folding an event. */
  private long nowNanos;

  private long tidiedNanos;
  private long sweptNanos;

  /** The end of the first event in this read of the ring; zero before the first event. */
  private long firstEndNanos;

  private volatile long lagNanos;

  /**
   * The sources of data that events do not contain.
   *
   * @param monotonic the clock of events, in nanoseconds
   * @param realtime the wall clock, in nanoseconds since the epoch
   * @param lostInKernel the total of events that were lost before they reached the ring
   * @param owners finds an owner of events, such as a request, if its begin event was lost
   * @param processes reads the identity of a process
   * @param sums the sums of events that were folded in the kernel
   * @param reference the clock with which the wall clock is compared, if any
   * @param controls receives events about requests, processes and libraries
   */
  public record Sources(
      LongSupplier monotonic,
      LongSupplier realtime,
      LongSupplier lostInKernel,
      Owners.Source owners,
      IntFunction<ProcessIdentity> processes,
      KernelSums sums,
      @Nullable ReferenceClock reference,
      Controls controls) {}

  /** A span of this process that became current while the probes were detached. */
  private record Unseen(long owner, long beganNanos) {}

  /** Receives the events that do not become spans, on the ring's thread. */
  @FunctionalInterface
  public interface Controls {

    /** Handles an event. The view is reused after this method returns. */
    void control(Kind kind, EventView event);
  }

  /** Creates a sink that writes to {@code telemetry}. */
  public EventSink(Telemetry telemetry, FoldOptions options, Sources sources) {
    this.options = options;
    this.sources = sources;
    this.clock = new KernelClock(sources.monotonic(), sources.realtime());
    this.owners = new Owners(sources.owners());
    this.processes = new ProcessTable(sources.processes());
    this.requests = new OpenRequests(options, accounting, this::write);
    this.steps = new EngineSteps(telemetry, clock::epochNanos, this);
    this.writer = new SpanWriter(telemetry, clock, losses, accounting, processes, steps);
    this.detailKey = new DetailKey(options.allowPaths());
    this.nowNanos = sources.monotonic().getAsLong();
    this.tidiedNanos = nowNanos;
    noteLosses();
  }

  @Override
  public void event(EventView view) {
    boolean whole = view.isWhole();
    int number = whole ? view.kind() : Kind.NUMBERS;
    accounting.countConsumed(number);
    Kind kind = Kind.of(number);
    if (!whole) {
      accounting.countDropped(Drop.MALFORMED);
    } else if (kind == null) {
      accounting.countDropped(Drop.UNKNOWN_KIND);
    } else {
      try {
        take(view, kind);
      } catch (RuntimeException | Error e) {
        LOGGER.log(Level.DEBUG, "An event could not be handled", e);
        accounting.countDropped(Drop.FAILED);
      }
    }
  }

  private void take(EventView view, Kind kind) {
    if (firstEndNanos == 0) {
      firstEndNanos = view.endNanos();
    }
    if (kind.family() == Family.CONTROL) {
      control(kind, view);
      accounting.countControl();
    } else if (view.hasOwner()) {
      gather(view, kind);
    } else {
      accounting.countDropped(Drop.MALFORMED);
    }
  }

  private void gather(EventView view, Kind kind) {
    if (steps.call(kind, view) && isForgottenStep(view)) {
      accounting.countControl();
      return;
    }
    OpenRequest request = touched(view);
    processes.note(view.tgid());
    detailKey.of(view, kind);
    if (isSingle(request, view, kind)) {
      request.hold(view, kind, detailKey.label(view));
    } else {
      requests.fold(request, view, kind, detailKey).add(view);
    }
    accounting.countHeld();
  }

  /** Returns whether the event belongs to an engine step that was already written. */
  private boolean isForgottenStep(EventView view) {
    return Source.of(view.source()) == Source.COOPERATIVE && requests.find(view.owner()) == null;
  }

  private OpenRequest touched(EventView view) {
    OpenRequest request = requests.touch(view.owner(), nowNanos);
    request.beganNanos = Math.min(request.beganNanos, view.startNanos());
    if (!request.lookedUp) {
      request.lookedUp = true;
      owners.seek(view.owner(), view.tgid(), view.tid());
    }
    return request;
  }

  private boolean isSingle(OpenRequest request, EventView view, Kind kind) {
    if (request.step != null || request.singleCount() >= options.bounds().singlesPerRequest()) {
      return false;
    }
    return request.isAmongTheFirst(kind, options.firstFew())
        || view.endNanos() - view.startNanos() >= options.thresholdNanos();
  }

  private void control(Kind kind, EventView view) {
    if (!steps.control(kind, view)) {
      switch (kind) {
        case OWNER_BEGAN -> began(view);
        case OWNER_ENDED -> ended(view);
        case PROCESS_STARTED, PROCESS_EXITED -> processes.changed(view.tgid());
        default -> {}
      }
    }
    sources.controls().control(kind, view);
  }

  private void began(EventView begin) {
    owners.began(begin);
    if (begin.hasOwner() && !Owner.isSpan(begin.owner())) {
      touched(begin).startReported = true;
    }
  }

  private void ended(EventView end) {
    owners.ended(end);
    OpenRequest request = requests.find(end.owner());
    if (request != null) {
      request.shared |= (int) (end.detail() >>> 32);
      request.unattributed += end.amount();
      request.endedNanos = end.endNanos();
    }
    requests.end(end.owner(), nowNanos);
  }

  @Override
  public @Nullable Owner head(int tgid, String requestId) {
    return owners.ofRequestId(tgid, requestId);
  }

  /** Bypasses the cache of identities: a worker may set its title after its first event. */
  @Override
  public @Nullable String rank(int pid) {
    return sources.processes().apply(pid).rank();
  }

  @Override
  public void began(Step step) {
    OpenRequest request = requests.touch(step.owner(), nowNanos);
    request.step = step;
    request.beganNanos = step.beganNanos();
    request.lookedUp = true;
    request.startReported = true;
  }

  @Override
  public void done(Step step) {
    requests.end(step.owner(), nowNanos);
  }

  @Override
  public boolean lost(long fromNanos, long toNanos) {
    noteLosses();
    return losses.lost(fromNanos, toNanos) > 0;
  }

  @Override
  public @Nullable Interval clock(long epochNanos) {
    ReferenceClock reference = sources.reference();
    return reference == null ? null : reference.at(epochNanos);
  }

  @Override
  public String level(EventClass events, long fromNanos, long toNanos) {
    return levels.level(events, fromNanos, toNanos);
  }

  /**
   * Notes that a span became current on a thread of this process while the probes were detached,
   * which no event reports. Any thread may call this. If too many spans become current at once, the
   * others are assumed to begin with their first event.
   */
  public void beganUnseen(long owner) {
    boolean ignored = unseen.offer(new Unseen(owner, sources.monotonic().getAsLong()));
  }

  private void takeUnseen() {
    for (Unseen one = unseen.poll(); one != null; one = unseen.poll()) {
      OpenRequest request = requests.touch(one.owner(), nowNanos);
      request.beganNanos = Math.min(request.beganNanos, one.beganNanos());
    }
  }

  /** Returns the history of detail levels, to which {@link LevelTimeline#note} adds changes. */
  public LevelTimeline levels() {
    return levels;
  }

  @Override
  public boolean isAtRest() {
    return requests.count() == 0;
  }

  @Override
  public void drained() {
    nowNanos = sources.monotonic().getAsLong();
    lagNanos = firstEndNanos == 0 ? 0 : Math.max(0, nowNanos - firstEndNanos);
    firstEndNanos = 0;
    takeUnseen();
    if (nowNanos - tidiedNanos >= (isAtRest() ? TIDY_AT_REST_NANOS : TIDY_NANOS)) {
      tidiedNanos = nowNanos;
      noteLosses();
      clock.refresh();
      steps.expire(nowNanos);
      if (nowNanos - sweptNanos >= TIDY_AT_REST_NANOS) {
        sweptNanos = nowNanos;
        touchOwnersOfSums();
      }
      requests.expire(nowNanos);
    }
  }

  /**
   * Opens requests that have only sums in the kernel and no events, for example because a policy
   * dropped all their calls.
   */
  private void touchOwnersOfSums() {
    for (long owner : sources.sums().owners()) {
      if (requests.find(owner) == null) {
        requests.touch(owner, nowNanos);
      }
    }
  }

  private void noteLosses() {
    losses.note(
        sources.monotonic().getAsLong(),
        accounting.consumed(),
        sources.lostInKernel().getAsLong() + accounting.dropped());
  }

  private void write(OpenRequest request) {
    noteLosses();
    List<KernelSum> sums = sources.sums().take(request.number);
    if (request.isEmpty() && sums.isEmpty()) {
      return;
    }
    Context parent = parent(request);
    if (parent == null) {
      accounting.countUnowned(request.events());
      return;
    }
    long last = Math.max(request.lastEndNanos(), request.endedNanos);
    for (KernelSum sum : sums) {
      request.beganNanos = Math.min(request.beganNanos, sum.firstNanos());
      last = Math.max(last, sum.lastNanos());
    }
    writer.write(request, sums, parent, levels.during(request.beganNanos, last));
  }

  private @Nullable Context parent(OpenRequest request) {
    if (request.step != null) {
      return request.step.context();
    }
    Owner owner = owners.of(request.number);
    return owner == null ? null : SpanWriter.parent(owner);
  }

  /** Writes all open requests, on the ring's thread or after it has ended. */
  public void flush() {
    noteLosses();
    takeUnseen();
    touchOwnersOfSums();
    steps.close(sources.monotonic().getAsLong());
    requests.closeAll();
  }

  /** Returns the counts of events and of their outcomes. */
  public SpanAccounting accounting() {
    return accounting;
  }

  /** Returns the counters of engine steps. */
  public BatchCounters steps() {
    return steps.counters();
  }

  /**
   * Returns how many requests have unwritten events; engine steps and other owners count as
   * requests.
   */
  public int openRequests() {
    return requests.count();
  }

  /**
   * Returns how long the oldest event of the last read had waited in the ring; zero if there was
   * none.
   */
  public long lagNanos() {
    return lagNanos;
  }

  /** Returns the clock with which the wall clock is compared, or null if there is none. */
  public @Nullable ReferenceClock reference() {
    return sources.reference();
  }

  /** Returns the maximum error of the conversion from the kernel's clock to the epoch. */
  public long clockErrorNanos() {
    return clock.errorNanos();
  }
}
