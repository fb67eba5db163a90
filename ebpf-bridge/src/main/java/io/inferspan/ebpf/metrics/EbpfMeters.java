package io.inferspan.ebpf.metrics;

import io.inferspan.ebpf.batch.BatchCounters;
import io.inferspan.ebpf.ring.RingReader;
import io.inferspan.ebpf.spans.EventSink;
import io.inferspan.ebpf.spans.SpanAccounting;
import io.inferspan.ebpf.wire.Kind;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Meters for event delivery, event losses and the cost of observation.
 *
 * <p>Keep a reference while the registry is in use: registries hold gauges weakly.
 */
public final class EbpfMeters implements MeterBinder {

  private static final String DROPPED = "inferspan.ebpf.events.dropped";

  private final EventSink sink;
  private final RingReader ring;
  private final LongSupplier backlogBytes;
  private final List<Failure> failures = new ArrayList<>();
  private final List<KernelDrop> kernelDrops = new ArrayList<>();
  private final List<Detail> details = new ArrayList<>();
  private final List<PolicyOutcome> policy = new ArrayList<>();
  private final List<Program> programs = new ArrayList<>();
  private final List<Probe> probes = new ArrayList<>();
  private @Nullable Sleep sleep;

  private record Failure(String where, LongSupplier count) {}

  private record KernelDrop(String reason, LongSupplier count) {}

  private record Detail(String events, IntSupplier level, LongSupplier shed) {}

  private record PolicyOutcome(String outcome, LongSupplier count) {}

  private record Program(String name, LongSupplier runs, LongSupplier runNanos) {}

  private record Probe(String name, BooleanSupplier attached) {}

  private record Sleep(BooleanSupplier asleep, LongSupplier times) {}

  /**
   * Creates meters of a ring and a sink.
   *
   * @param backlogBytes the bytes waiting in the ring; read for as long as the registry is, which
   *     is longer than the ring's memory lasts
   */
  public EbpfMeters(EventSink sink, RingReader ring, LongSupplier backlogBytes) {
    this.sink = sink;
    this.ring = ring;
    this.backlogBytes = backlogBytes;
  }

  /** Adds the events that the kernel side lost for one reason, such as {@code ring_full}. */
  public EbpfMeters kernelDrop(String reason, LongSupplier count) {
    kernelDrops.add(new KernelDrop(reason, count));
    return this;
  }

  /** Adds a count of the calls for which a capture policy was loaded. */
  public EbpfMeters policy(String outcome, LongSupplier count) {
    policy.add(new PolicyOutcome(outcome, count));
    return this;
  }

  /** Adds the level of a class of events, and how many of them were not reported because of it. */
  public EbpfMeters detail(String events, IntSupplier level, LongSupplier shed) {
    details.add(new Detail(events, level, shed));
    return this;
  }

  /** Adds a count of errors that the bridge survived. */
  public EbpfMeters failure(String where, LongSupplier count) {
    failures.add(new Failure(where, count));
    return this;
  }

  /** Adds a program's runs and run time, which the kernel counts on request. */
  public EbpfMeters program(String name, LongSupplier runs, LongSupplier runNanos) {
    programs.add(new Program(name, runs, runNanos));
    return this;
  }

  /** Adds a group of probes and whether it is attached. */
  public EbpfMeters probe(String name, BooleanSupplier attached) {
    probes.add(new Probe(name, attached));
    return this;
  }

  /** Adds whether the probes that only serve requests are detached, and how often they were. */
  public EbpfMeters sleep(BooleanSupplier asleep, LongSupplier times) {
    sleep = new Sleep(asleep, times);
    return this;
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    events(registry);
    steps(registry);
    drops(registry);
    state(registry);
    Sleep sleeping = sleep;
    if (sleeping != null) {
      bind(sleeping, registry);
    }
    details.forEach(detail -> bind(detail, registry));
    programs.forEach(program -> bind(program, registry));
    probes.forEach(
        probe ->
            Gauge.builder("inferspan.ebpf.attached", probe, p -> p.attached.getAsBoolean() ? 1 : 0)
                .description("Whether a group of probes is attached")
                .tag("probe", probe.name)
                .register(registry));
  }

  private void events(MeterRegistry registry) {
    for (Kind kind : Kind.values()) {
      counter("inferspan.ebpf.events", "Events read", books -> books.consumed(kind))
          .tag("kind", kind.family().name().toLowerCase(Locale.ROOT) + "." + kind.call())
          .register(registry);
    }
    counter("inferspan.ebpf.events.emitted", "Events with a span", SpanAccounting::emitted)
        .register(registry);
    counter("inferspan.ebpf.events.folded", "Events that share a span", SpanAccounting::folded)
        .register(registry);
    counter("inferspan.ebpf.requests.evicted", "Requests written early", SpanAccounting::evicted)
        .register(registry);
  }

  private void steps(MeterRegistry registry) {
    for (BatchCounters.Count what : BatchCounters.Count.values()) {
      FunctionCounter.builder("inferspan.ebpf.engine", sink.steps(), steps -> steps.of(what))
          .description("Steps of engines, and the requests in them")
          .tag("count", what.name().toLowerCase(Locale.ROOT))
          .register(registry);
    }
  }

  private void drops(MeterRegistry registry) {
    for (SpanAccounting.Drop reason : SpanAccounting.Drop.values()) {
      counter(DROPPED, "Events lost", books -> books.dropped(reason))
          .tag("reason", reason.name().toLowerCase(Locale.ROOT))
          .register(registry);
    }
    for (KernelDrop drop : kernelDrops) {
      FunctionCounter.builder(DROPPED, drop, d -> d.count.getAsLong())
          .description("Events lost")
          .tag("reason", drop.reason)
          .register(registry);
    }
    for (PolicyOutcome outcome : policy) {
      FunctionCounter.builder("inferspan.ebpf.policy.calls", outcome, o -> o.count.getAsLong())
          .description("Calls that a capture policy kept, folded or dropped, or the floor kept")
          .tag("outcome", outcome.outcome)
          .register(registry);
    }
    for (Failure failure : failures) {
      FunctionCounter.builder("inferspan.ebpf.failures", failure, f -> f.count.getAsLong())
          .description("Errors that the bridge survived")
          .tag("where", failure.where)
          .register(registry);
    }
    FunctionCounter.builder("inferspan.ebpf.ring.corruptions", ring, RingReader::corruptions)
        .description("Times that the ring was corrupt")
        .register(registry);
  }

  private FunctionCounter.Builder<SpanAccounting> counter(
      String name, String description, ToLongFunction<SpanAccounting> count) {
    return FunctionCounter.builder(name, sink.accounting(), count::applyAsLong)
        .description(description);
  }

  private void state(MeterRegistry registry) {
    Gauge.builder("inferspan.ebpf.ring.fill", backlogBytes, LongSupplier::getAsLong)
        .description("Bytes that wait in the ring")
        .baseUnit("bytes")
        .register(registry);
    Gauge.builder("inferspan.ebpf.ring.capacity", ring, RingReader::capacityBytes)
        .description("Bytes that may wait in the ring")
        .baseUnit("bytes")
        .register(registry);
    Gauge.builder("inferspan.ebpf.requests.open", sink, EventSink::openRequests)
        .description("Requests with pending spans")
        .register(registry);
    TimeGauge.builder("inferspan.ebpf.lag", sink, TimeUnit.NANOSECONDS, EventSink::lagNanos)
        .description("Age of the oldest event at the last read")
        .register(registry);
    TimeGauge.builder(
            "inferspan.ebpf.clock.error", sink, TimeUnit.NANOSECONDS, EventSink::clockErrorNanos)
        .description("Maximum error of span timestamps")
        .register(registry);
  }

  private static void bind(Sleep sleep, MeterRegistry registry) {
    Gauge.builder("inferspan.ebpf.asleep", sleep, s -> s.asleep.getAsBoolean() ? 1 : 0)
        .description("Whether request probes are detached because none is sampled")
        .register(registry);
    FunctionCounter.builder("inferspan.ebpf.sleeps", sleep, s -> s.times.getAsLong())
        .description("Times that request probes were detached")
        .register(registry);
  }

  private static void bind(Detail detail, MeterRegistry registry) {
    Gauge.builder("inferspan.ebpf.level", detail, d -> d.level.getAsInt())
        .description(
            "Detail of a class of events: 4 full, 3 sampled, 2 folded, 1 counted, 0 detached")
        .tag("class", detail.events)
        .register(registry);
    FunctionCounter.builder("inferspan.ebpf.events.shed", detail, d -> d.shed.getAsLong())
        .description("Events that were folded in the kernel or counted, to hold the budget")
        .tag("class", detail.events)
        .register(registry);
  }

  private static void bind(Program program, MeterRegistry registry) {
    FunctionTimer.builder(
            "inferspan.ebpf.program",
            program,
            p -> p.runs.getAsLong(),
            p -> p.runNanos.getAsLong(),
            TimeUnit.NANOSECONDS)
        .description("Runs of a program in the kernel")
        .tag("program", program.name)
        .register(registry);
  }
}
