package io.inferspan.ebpf.metrics;

import io.inferspan.ebpf.batch.BatchCounters;
import io.inferspan.ebpf.clock.ClockOffset.Interval;
import io.inferspan.ebpf.clock.ReferenceClock;
import io.inferspan.ebpf.ring.RingReader;
import io.inferspan.ebpf.spans.EventSink;
import io.inferspan.ebpf.spans.SpanAccounting;
import io.inferspan.ebpf.wire.Kind;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.TimeGauge;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.DoubleSupplier;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Meters for event delivery, event losses and the cost of observation.
 *
 * <p>Keep a reference while the registry is in use, because registries hold the sources of meters
 * by weak references.
 */
public final class EbpfMeters {

  private static final double NANOS_PER_SECOND = 1e9;
  private static final String DROPPED = "inferspan.ebpf.events.dropped";

  private final MeterRegistry registry;
  private final List<Object> held = new ArrayList<>();

  /**
   * Registers the meters of a ring and a sink.
   *
   * @param backlogBytes returns the bytes waiting in the ring; it is also called after the ring was
   *     unmapped
   */
  public EbpfMeters(
      MeterRegistry registry, EventSink sink, RingReader ring, LongSupplier backlogBytes) {
    this.registry = registry;
    events(sink);
    SpanAccounting accounting = sink.accounting();
    for (SpanAccounting.Drop reason : SpanAccounting.Drop.values()) {
      drop(lower(reason), () -> accounting.dropped(reason));
    }
    count(
        "inferspan.ebpf.ring.corruptions", "Invalid records found in the ring", ring::corruptions);
    gauge("inferspan.ebpf.ring.fill", "Bytes waiting in the ring", "bytes", backlogBytes);
    gauge("inferspan.ebpf.ring.capacity", "Capacity of the ring", "bytes", ring::capacityBytes);
    gauge("inferspan.ebpf.requests.open", "Requests with pending spans", null, sink::openRequests);
    time("inferspan.ebpf.lag", "Age of the oldest event at the last read", sink::lagNanos);
    time("inferspan.ebpf.clock.error", "Maximum error of span timestamps", sink::clockErrorNanos);
    ReferenceClock reference = sink.reference();
    if (reference != null) {
      reference(reference);
    }
  }

  private void events(EventSink sink) {
    SpanAccounting accounting = sink.accounting();
    for (Kind kind : Kind.values()) {
      String name = lower(kind.family()) + "." + kind.call();
      count("inferspan.ebpf.events", "Events read", () -> accounting.consumed(kind), "kind", name);
    }
    count("inferspan.ebpf.events.emitted", "Events with a span", accounting::emitted);
    count("inferspan.ebpf.events.folded", "Events that share a span", accounting::folded);
    count(
        "inferspan.ebpf.requests.evicted",
        "Requests exported before their end because too many were open",
        accounting::evicted);
    for (BatchCounters.Count what : BatchCounters.Count.values()) {
      count(
          "inferspan.ebpf.engine",
          "Steps of engines, their requests, and collectives",
          () -> sink.steps().of(what),
          "count",
          lower(what));
    }
  }

  /** Adds a counter of the events that were lost for one reason, such as {@code ring_full}. */
  public EbpfMeters drop(String reason, LongSupplier count) {
    return count(DROPPED, "Events lost", count, "reason", reason);
  }

  /** Adds a counter of calls by the outcome of the capture policy. */
  public EbpfMeters policy(String outcome, LongSupplier count) {
    return count(
        "inferspan.ebpf.policy.calls",
        "Calls that a capture policy kept, folded or dropped, or that it could not drop (floor)",
        count,
        "outcome",
        outcome);
  }

  /**
   * Adds the detail level of an event class, and a counter of the events that were not reported
   * because of it.
   */
  public EbpfMeters detail(String events, IntSupplier level, LongSupplier shed) {
    gauge(
        "inferspan.ebpf.level",
        "Detail of a class of events: 4 full, 3 sampled, 2 folded, 1 counted, 0 detached",
        null,
        level::getAsInt,
        "class",
        events);
    return count(
        "inferspan.ebpf.events.shed",
        "Events that were folded in the kernel or counted, because of the level of their class",
        shed,
        "class",
        events);
  }

  /** Adds the estimated cost of tracing at the next higher level of an event class. */
  public EbpfMeters next(String events, DoubleSupplier cost) {
    held.add(cost);
    Gauge.builder("inferspan.ebpf.level.next.cost", cost, DoubleSupplier::getAsDouble)
        .description("Estimated cost with more detail of a class, relative to the budget")
        .tag("class", events)
        .register(registry);
    return this;
  }

  /** Adds a counter of errors that the bridge survived. */
  public EbpfMeters failure(String where, LongSupplier count) {
    return count("inferspan.ebpf.failures", "Internal errors of the bridge", count, "where", where);
  }

  /** Adds the runs and the run time of a program; both stay 0 unless run statistics are enabled. */
  public EbpfMeters program(String name, LongSupplier runs, LongSupplier runNanos) {
    FunctionTimer.builder(
            "inferspan.ebpf.program",
            hold(runs),
            LongSupplier::getAsLong,
            ignored -> runNanos.getAsLong(),
            TimeUnit.NANOSECONDS)
        .description("Runs of a program in the kernel")
        .tag("program", name)
        .register(registry);
    return this;
  }

  /**
   * Adds a gauge that is 1 for a program that is attached, also while the bridge sleeps, and 0 for
   * a program that the kernel refused to attach, and after the bridge was closed.
   */
  public EbpfMeters probe(String name, BooleanSupplier attached) {
    return gauge(
        "inferspan.ebpf.attached",
        "Whether a program is attached",
        null,
        () -> attached.getAsBoolean() ? 1 : 0,
        "probe",
        name);
  }

  /** Adds the comparison with the reference clock; offset and error are NaN while unknown. */
  private void reference(ReferenceClock clock) {
    String name = "inferspan.ebpf.clock.reference";
    interval(
        name + ".offset",
        "Time by which this host's clock is ahead of the reference clock",
        clock,
        Interval::offsetNanos);
    interval(name + ".error", "Maximum error of the offset", clock, Interval::errorNanos);
    String exchanges = "Exchanges with the reference clock";
    count(name + ".exchanges", exchanges, clock::answers, "outcome", "ok");
    count(name + ".exchanges", exchanges, clock::failures, "outcome", "failed");
    count(name + ".set", "Times that one of the clocks was set", clock::timesSet);
  }

  private void interval(
      String name, String description, ReferenceClock clock, ToLongFunction<Interval> nanos) {
    held.add(clock);
    Gauge.builder(
            name,
            clock,
            of -> {
              Interval now = of.now();
              return now == null ? Double.NaN : nanos.applyAsLong(now) / NANOS_PER_SECOND;
            })
        .description(description)
        .baseUnit("seconds")
        .register(registry);
  }

  /** Adds a gauge that is 1 while the bridge sleeps, and a counter of the times it fell asleep. */
  public EbpfMeters sleep(BooleanSupplier asleep, LongSupplier times) {
    gauge(
        "inferspan.ebpf.asleep",
        "Whether request probes are detached because no request is sampled",
        null,
        () -> asleep.getAsBoolean() ? 1 : 0);
    return count("inferspan.ebpf.sleeps", "Times that request probes were detached", times);
  }

  private EbpfMeters count(String name, String description, LongSupplier count, String... tags) {
    FunctionCounter.builder(name, hold(count), LongSupplier::getAsLong)
        .description(description)
        .tags(tags)
        .register(registry);
    return this;
  }

  private EbpfMeters gauge(
      String name, String description, @Nullable String unit, LongSupplier value, String... tags) {
    Gauge.builder(name, hold(value), LongSupplier::getAsLong)
        .description(description)
        .baseUnit(unit)
        .tags(tags)
        .register(registry);
    return this;
  }

  private void time(String name, String description, LongSupplier nanos) {
    TimeGauge.builder(name, hold(nanos), TimeUnit.NANOSECONDS, LongSupplier::getAsLong)
        .description(description)
        .register(registry);
  }

  private LongSupplier hold(LongSupplier read) {
    held.add(read);
    return read;
  }

  private static String lower(Enum<?> word) {
    return word.name().toLowerCase(Locale.ROOT);
  }
}
