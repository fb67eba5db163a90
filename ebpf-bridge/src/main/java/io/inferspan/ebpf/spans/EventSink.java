package io.inferspan.ebpf.spans;

import io.inferspan.Telemetry;
import io.inferspan.ebpf.ring.EventHandler;
import io.inferspan.ebpf.spans.SpanAccounting.Drop;
import io.inferspan.ebpf.wire.EventView;
import io.inferspan.ebpf.wire.Family;
import io.inferspan.ebpf.wire.Kind;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Takes events on the ring's thread, gathers them by request, and has them written when the request
 * has ended, was quiet, or has run long.
 */
public final class EventSink implements EventHandler {

  private static final Logger LOGGER = System.getLogger("io.inferspan.ebpf");
  private static final long TIDY_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  /**
   * Where nobody is served, for losses and the clock are asked of the kernel, which is not free.
   */
  private static final long TIDY_AT_REST_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Of requests that begin within the moment that waking takes. */
  private static final int MAX_UNSEEN = 256;

  private final FoldOptions options;
  private final Sources sources;
  private final SpanAccounting accounting = new SpanAccounting();
  private final LossTimeline losses = new LossTimeline();
  private final OpenRequests requests;
  private final SpanWriter writer;
  private final KernelClock clock;
  private final DetailKey detailKey;
  private final WatchedTime watched = new WatchedTime();
  private final Queue<Unseen> unseen = new ArrayBlockingQueue<>(MAX_UNSEEN);

  /** Read once per look at the ring: reading a clock costs more than folding an event. */
  private long nowNanos;

  private long tidiedNanos;

  /** The end of the first event of this look at the ring; zero before there was one. */
  private long firstEndNanos;

  private volatile long lagNanos;

  /**
   * Where a sink learns what the events do not tell.
   *
   * @param monotonic the clock that events carry, in nanoseconds
   * @param realtime the wall clock, in nanoseconds since the epoch
   * @param lostInKernel events that the kernel side could not put into the ring, so far
   * @param controls takes events that tell of processes and libraries
   */
  public record Sources(
      LongSupplier monotonic,
      LongSupplier realtime,
      LongSupplier lostInKernel,
      Controls controls) {}

  /** A request that began while the probes were off. */
  private record Unseen(long traceIdHigh, long traceIdLow, long spanId, long beganNanos) {}

  /** Takes events that become no span, on the ring's thread. */
  @FunctionalInterface
  public interface Controls {

    /** Takes one; the view moves on when this returns. */
    void control(Kind kind, EventView event);
  }

  /** A sink that writes to {@code telemetry}. */
  public EventSink(Telemetry telemetry, FoldOptions options, Sources sources) {
    this.options = options;
    this.sources = sources;
    this.clock = new KernelClock(sources.monotonic(), sources.realtime());
    this.writer = new SpanWriter(telemetry, clock, losses, accounting, watched);
    this.requests = new OpenRequests(options, accounting, this::write);
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
        LOGGER.log(Level.DEBUG, "An event could not be taken", e);
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
    } else if (view.hasContext()) {
      gather(view, kind);
    } else {
      accounting.countDropped(Drop.MALFORMED);
    }
  }

  private void gather(EventView view, Kind kind) {
    OpenRequest request = touched(view);
    detailKey.of(view, kind);
    if (isSingle(request, view, kind)) {
      request.hold(view, kind, detailKey.label(view));
    } else {
      requests.fold(request, view, kind, detailKey).add(view);
    }
    accounting.countHeld();
  }

  private OpenRequest touched(EventView view) {
    OpenRequest request =
        requests.touch(view.traceIdHigh(), view.traceIdLow(), view.spanId(), nowNanos);
    request.beganNanos = Math.min(request.beganNanos, view.startNanos());
    return request;
  }

  private boolean isSingle(OpenRequest request, EventView view, Kind kind) {
    if (request.singleCount() >= options.bounds().singlesPerRequest()) {
      return false;
    }
    return request.isAmongTheFirst(kind, options.firstFew())
        || view.endNanos() - view.startNanos() >= options.thresholdNanos();
  }

  private void control(Kind kind, EventView view) {
    switch (kind) {
      case REQUEST_BEGAN -> began(view);
      case REQUEST_ENDED ->
          requests.end(view.traceIdHigh(), view.traceIdLow(), view.spanId(), nowNanos);
      default -> {}
    }
    sources.controls().control(kind, view);
  }

  private void began(EventView begin) {
    if (begin.hasContext()) {
      touched(begin).told = true;
    }
  }

  /**
   * Notes that a request of an own thread begins while the probes are off, which no event tells of.
   * Any thread; those that are too many at once are taken to begin with their first event.
   */
  public void beganUnseen(long traceIdHigh, long traceIdLow, long spanId) {
    boolean ignored =
        unseen.offer(new Unseen(traceIdHigh, traceIdLow, spanId, sources.monotonic().getAsLong()));
  }

  private void takeUnseen() {
    for (Unseen one = unseen.poll(); one != null; one = unseen.poll()) {
      OpenRequest request =
          requests.touch(one.traceIdHigh(), one.traceIdLow(), one.spanId(), nowNanos);
      request.beganNanos = Math.min(request.beganNanos, one.beganNanos());
    }
  }

  /** When the probes were on, as whoever takes them off tells. */
  public WatchedTime watchedTime() {
    return watched;
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
      requests.expire(nowNanos);
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
    writer.write(request);
  }

  /** Writes all that is gathered, on the ring's thread or after it has ended. */
  public void flush() {
    noteLosses();
    takeUnseen();
    requests.closeAll();
  }

  /** The books. */
  public SpanAccounting accounting() {
    return accounting;
  }

  /** Requests that have something to be written. */
  public int openRequests() {
    return requests.count();
  }

  /** How long the oldest event of the last look at the ring had waited; zero where none had. */
  public long lagNanos() {
    return lagNanos;
  }

  /** How far the clock between kernel and epoch may be off. */
  public long clockErrorNanos() {
    return clock.errorNanos();
  }
}
