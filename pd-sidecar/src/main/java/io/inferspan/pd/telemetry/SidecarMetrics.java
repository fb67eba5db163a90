package io.inferspan.pd.telemetry;

import io.inferspan.Telemetry;
import io.inferspan.pd.config.KvConnector;
import io.inferspan.pd.telemetry.ExemplarScope.Observation;
import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.FileDescriptorMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.opentelemetry.api.trace.SpanContext;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The sidecar's meters.
 *
 * <p>All meters are created at startup, so that recording needs only a few additions, and this
 * class adds no lock and no allocation. Thread-safe; nothing throws. If a sampled span is passed,
 * the observation may carry its ids as an exemplar; pass {@link SpanContext#getInvalid()} if there
 * is none.
 *
 * <p>Durations are histograms. The buckets of prefill, encode and time to first token end at 5, 10,
 * 25, 50, 75, 100, 250, 500 and 750 ms and 1, 2.5, 5, 10, 30 and 120 s. The buckets of decode and
 * request end at 50, 100, 250 and 500 ms and 1, 2.5, 5, 10, 20, 40, 80, 160, 320, 640 and 1800 s.
 */
public final class SidecarMetrics implements AutoCloseable {
  /** The type of an encode stage, counted in addition to that of a prefill stage. */
  public static final String ENCODE = "encode";

  /** llm-d's own prefix, so that its dashboards work. */
  private static final String LLM_D = "llm_d_disagg_sidecar_";

  /** The prefix of metrics that llm-d does not have. */
  static final String OURS = "inferspan_pd_";

  /**
   * Buckets of times to the first token: milliseconds for a cached prompt, minutes for a long one
   * in a queue.
   */
  private static final Duration[] UP_TO_FIRST_TOKEN =
      millis(5, 10, 25, 50, 75, 100, 250, 500, 750, 1_000, 2_500, 5_000, 10_000, 30_000, 120_000);

  /**
   * Buckets of whole responses: a tenth of a second for a few tokens, half an hour for long
   * reasoning.
   */
  private static final Duration[] WHOLE_ANSWER =
      millis(
          50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 320_000,
          640_000, 1_800_000);

  private final MeterRegistry registry;
  private final ExemplarScope exemplars;
  private @Nullable JvmGcMetrics gc;
  private final Map<String, Observation> requests;
  private final Map<String, Observation> disaggregated;
  private final Map<String, Observation> durations = new HashMap<>();
  private final Map<String, Observation> errors;
  private final Map<Stage, ConnectionMeters> connections = new EnumMap<>(Stage.class);
  private final Observation timeToFirstToken;
  private final Observation denials;
  private final Observation tooLarge;
  private final Observation noRoom;
  private final LongAdder inFlight = new LongAdder();

  private SidecarMetrics(MeterRegistry registry, ExemplarScope exemplars) {
    this.registry = registry;
    this.exemplars = exemplars;
    Stream<String> apis = Stream.of(Api.values()).map(Api::label);
    requests = counters("requests", "Requests that arrived", "api_type", apis);
    Stream<String> types = Stream.concat(Stream.of(ENCODE), KvConnector.names().stream());
    disaggregated =
        counters("disagg_requests", "Requests served by several engines", "disagg_type", types);
    Stream<String> stages = Stream.of(Stage.values()).map(Stage::label);
    errors = counters("request_errors", "Failures of requests", "stage", stages);
    timeToFirstToken =
        histogram(
            OURS + "time_to_first_token",
            "From a request's arrival to the first token of its streamed answer",
            UP_TO_FIRST_TOKEN);
    denials = counter(OURS + "allow_list_denials", "Prefill targets denied by the allow-list");
    tooLarge = counter(OURS + "request_body_too_large", "Requests answered with 413");
    noRoom =
        counter(
            OURS + "held_bodies_refused",
            "Requests answered with 503 because held-bodies-limit was reached");
    stages();
    Gauge.builder(OURS + "requests_in_flight", inFlight, LongAdder::sum)
        .description("Requests that are being served")
        .register(registry);
  }

  private void stages() {
    for (Stage stage : Stage.values()) {
      boolean whole = stage == Stage.DECODE || stage == Stage.REQUEST;
      // llm-d has no metric for the duration of the whole request.
      String prefix = stage == Stage.REQUEST ? OURS : LLM_D;
      durations.put(
          stage.label(),
          histogram(
              prefix + stage.label() + "_duration",
              "Duration of " + stage.label(),
              whole ? WHOLE_ANSWER : UP_TO_FIRST_TOKEN));
      if (stage != Stage.REQUEST) {
        connections.put(stage, new ConnectionMeters(registry, stage));
      }
    }
  }

  private static Duration[] millis(long... bounds) {
    return Arrays.stream(bounds).mapToObj(Duration::ofMillis).toArray(Duration[]::new);
  }

  private Observation counter(String name, String description) {
    return Counter.builder(name).description(description).register(registry)::increment;
  }

  /** Creates a counter for each value of a label, so that all exist from the start, at zero. */
  private Map<String, Observation> counters(
      String name, String description, String label, Stream<String> values) {
    Counter.Builder counter = Counter.builder(LLM_D + name).description(description);
    return values.collect(
        Collectors.toMap(
            Function.identity(),
            value -> counter.withRegistry(registry).withTag(label, value)::increment));
  }

  private Observation histogram(String name, String description, Duration[] bounds) {
    Timer timer =
        Timer.builder(name)
            .description(description)
            .serviceLevelObjectives(bounds)
            .register(registry);
    return nanos -> timer.record(nanos, TimeUnit.NANOSECONDS);
  }

  /**
   * Creates the metrics of a sidecar and of its tracing; {@link #bindJvm} adds those of its JVM.
   */
  public static SidecarMetrics create(Telemetry telemetry) {
    ExemplarScope exemplars = new ExemplarScope();
    PrometheusMeterRegistry registry =
        new PrometheusMeterRegistry(
            PrometheusConfig.DEFAULT, new PrometheusRegistry(), Clock.SYSTEM, exemplars);
    SidecarMetrics metrics = new SidecarMetrics(registry, exemplars);
    telemetry.bindTo(registry);
    return metrics;
  }

  /**
   * Creates metrics that record nothing, for a sidecar without a metrics port. Real ones would slow
   * down the start.
   */
  public static SidecarMetrics unread() {
    return new SidecarMetrics(new CompositeMeterRegistry(), new ExemplarScope());
  }

  public void bindJvm() {
    new JvmMemoryMetrics().bindTo(registry);
    gc = new JvmGcMetrics();
    gc.bindTo(registry);
    new JvmThreadMetrics().bindTo(registry);
    new ProcessorMetrics().bindTo(registry);
    new UptimeMetrics().bindTo(registry);
    new FileDescriptorMetrics().bindTo(registry);
  }

  /** Returns the registry, for meters of other components. */
  public MeterRegistry registry() {
    return registry;
  }

  public PrometheusMeterRegistry prometheus() {
    if (registry instanceof PrometheusMeterRegistry prometheus) {
      return prometheus;
    }
    throw new IllegalStateException("there is no Prometheus registry: --metrics-port is 0");
  }

  public void requestArrived(Api api, SpanContext span) {
    record(requests, api.label(), span, 1);
  }

  /**
   * Counts a request that several engines serve; {@code type} is a KV connector's name, or {@link
   * #ENCODE}.
   */
  public void disaggregated(String type, SpanContext span) {
    record(disaggregated, type, span, 1);
  }

  /** Starts a stage whose end will be counted. */
  public StageRun begin(Stage stage, SpanContext span) {
    return new StageRun(this, stage, span);
  }

  /** Records the duration of a stage, successful or not. */
  public void stageEnded(Stage stage, long nanos, SpanContext span) {
    record(durations, stage.label(), span, nanos);
  }

  /** Counts the failure of a stage; {@link #stageEnded} records its duration. */
  public void stageFailed(Stage stage, SpanContext span) {
    record(errors, stage.label(), span, 1);
  }

  public void firstToken(long nanos, SpanContext span) {
    exemplars.record(span, timeToFirstToken, nanos);
  }

  public void denied() {
    denials.record(1);
  }

  public void bodyTooLarge() {
    tooLarge.record(1);
  }

  public void noRoomForBody() {
    noRoom.record(1);
  }

  /** Adds a gauge of the memory that bodies use. */
  public void showHeldBodies(LongSupplier bytes) {
    Gauge.builder(OURS + "held_bodies", bytes::getAsLong)
        .description("Memory of the bodies of requests and responses")
        .baseUnit("bytes")
        .register(registry);
  }

  /** Counts a request in flight, until {@link #requestLeft}. */
  public void requestEntered() {
    inFlight.increment();
  }

  public void requestLeft() {
    inFlight.decrement();
  }

  /** Returns the counters of connections to the engines of a stage other than REQUEST. */
  public ConnectionMeters connections(Stage stage) {
    return Objects.requireNonNull(connections.get(stage), "the stage has no connections");
  }

  private void record(Map<String, Observation> meters, String label, SpanContext span, long value) {
    Observation meter = Objects.requireNonNull(meters.get(label), "no meter has this label");
    exemplars.record(span, meter, value);
  }

  /** Stops listening to the garbage collector, and stops counting. */
  @Override
  public void close() {
    if (gc != null) {
      gc.close();
    }
    registry.close();
  }
}
