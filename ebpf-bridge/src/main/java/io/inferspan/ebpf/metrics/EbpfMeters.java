package io.inferspan.ebpf.metrics;

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
import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Whether events arrive, where they are lost, and what seeing them costs.
 *
 * <p>To be kept for as long as the registry is read: a registry holds what it measures weakly.
 */
public final class EbpfMeters implements MeterBinder {

  private static final String DROPPED = "inferspan.ebpf.events.dropped";

  private final EventSink sink;
  private final RingReader ring;
  private final LongSupplier backlogBytes;
  private final List<Failure> failures = new ArrayList<>();
  private final List<KernelDrop> kernelDrops = new ArrayList<>();
  private final List<Program> programs = new ArrayList<>();
  private final List<Probe> probes = new ArrayList<>();
  private @Nullable Sleep sleep;

  private record Failure(String where, LongSupplier count) {}

  private record KernelDrop(String reason, LongSupplier count) {}

  private record Program(String name, LongSupplier runs, LongSupplier runNanos) {}

  private record Probe(String name, BooleanSupplier attached) {}

  private record Sleep(BooleanSupplier asleep, LongSupplier times) {}

  /**
   * Meters of what comes out of {@code ring} and goes into {@code sink}.
   *
   * @param backlogBytes what waits in the ring, asked for as long as the registry is read: longer
   *     than the ring's memory lasts
   */
  public EbpfMeters(EventSink sink, RingReader ring, LongSupplier backlogBytes) {
    this.sink = sink;
    this.ring = ring;
    this.backlogBytes = backlogBytes;
  }

  /** Adds events that the kernel side lost for one reason, a word such as {@code ring_full}. */
  public EbpfMeters kernelDrop(String reason, LongSupplier count) {
    kernelDrops.add(new KernelDrop(reason, count));
    return this;
  }

  /** Adds what went wrong in one place and was gone on without. */
  public EbpfMeters failure(String where, LongSupplier count) {
    failures.add(new Failure(where, count));
    return this;
  }

  /** Adds a program's runs and the time in them, which the kernel counts when asked to. */
  public EbpfMeters program(String name, LongSupplier runs, LongSupplier runNanos) {
    programs.add(new Program(name, runs, runNanos));
    return this;
  }

  /** Adds a group of probes and whether it is attached. */
  public EbpfMeters probe(String name, BooleanSupplier attached) {
    probes.add(new Probe(name, attached));
    return this;
  }

  /** Adds whether the probes that only serve requests are off, and how often they were. */
  public EbpfMeters sleep(BooleanSupplier asleep, LongSupplier times) {
    sleep = new Sleep(asleep, times);
    return this;
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    events(registry);
    drops(registry);
    state(registry);
    Sleep sleeping = sleep;
    if (sleeping != null) {
      bind(sleeping, registry);
    }
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
    for (Failure failure : failures) {
      FunctionCounter.builder("inferspan.ebpf.failures", failure, f -> f.count.getAsLong())
          .description("Times that something went wrong and was gone on without")
          .tag("where", failure.where)
          .register(registry);
    }
    FunctionCounter.builder("inferspan.ebpf.ring.corruptions", ring, RingReader::corruptions)
        .description("Times that the ring made no sense")
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
        .description("Requests with something to be written")
        .register(registry);
    TimeGauge.builder("inferspan.ebpf.lag", sink, TimeUnit.NANOSECONDS, EventSink::lagNanos)
        .description("How long the oldest event of the last look had waited")
        .register(registry);
    TimeGauge.builder(
            "inferspan.ebpf.clock.error", sink, TimeUnit.NANOSECONDS, EventSink::clockErrorNanos)
        .description("How far times of spans may be off")
        .register(registry);
  }

  private static void bind(Sleep sleep, MeterRegistry registry) {
    Gauge.builder("inferspan.ebpf.asleep", sleep, s -> s.asleep.getAsBoolean() ? 1 : 0)
        .description("Whether probes that only serve requests are off, since none is sampled")
        .register(registry);
    FunctionCounter.builder("inferspan.ebpf.sleeps", sleep, s -> s.times.getAsLong())
        .description("Times that they were taken off")
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
