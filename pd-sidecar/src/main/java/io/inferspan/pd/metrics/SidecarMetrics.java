package io.inferspan.pd.metrics;

import io.inferspan.Telemetry;
import io.inferspan.pd.config.KvConnector;
import io.inferspan.pd.metrics.ExemplarScope.Observation;
import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
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
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The sidecar's meters.
 *
 * <p>All meters are created at startup, so that recording needs only a few additions, without a
 * lookup, a lock or an allocation of ours. Thread-safe; nothing throws. If a sampled span is
 * passed, the observation may carry its ids as an exemplar; pass {@link SpanContext#getInvalid()}
 * if there is none.
 *
 * <p>Durations are histograms. Those that end with the first token (prefill, encode, time to first
 * token) have bounds of 5, 10, 25, 50, 75, 100, 250, 500 and 750 ms and 1, 2.5, 5, 10, 30 and 120
 * s; those of whole answers (decode, request) of 50, 100, 250 and 500 ms and 1, 2.5, 5, 10, 20, 40,
 * 80, 160, 320, 640 and 1800 s.
 */
public final class SidecarMetrics implements AutoCloseable {
  /** An encode stage; counted in addition to the connector if there is a prefill stage as well. */
  public static final String ENCODE = "encode";

  private final MeterRegistry registry;
  private final ExemplarScope exemplars;
  private @Nullable JvmGcMetrics gc;
  private final Map<Api, Observation> requests;
  private final Map<String, Observation> disaggregated;
  private final Map<Stage, Observation> durations = new EnumMap<>(Stage.class);
  private final Map<Stage, Observation> errors;
  private final Map<Stage, ConnectionMeters> connections = new EnumMap<>(Stage.class);
  private final Observation timeToFirstToken;
  private final Observation denials;
  private final Observation tooLarge;
  private final Observation noRoom;
  private final LongAdder inFlight = new LongAdder();

  private SidecarMetrics(MeterRegistry registry, ExemplarScope exemplars) {
    this.registry = registry;
    this.exemplars = exemplars;
    Meters meters = new Meters(registry);
    requests =
        meters.counters(
            Meters.LLM_D + "requests",
            "Requests that arrived",
            "api_type",
            List.of(Api.values()),
            Api::label);
    disaggregated =
        meters.counters(
            Meters.LLM_D + "disagg_requests",
            "Requests that were served by several engines",
            "disagg_type",
            Stream.concat(Stream.of(ENCODE), KvConnector.names().stream()).toList(),
            Function.identity());
    errors =
        meters.counters(
            Meters.LLM_D + "request_errors",
            "Failures of requests",
            "stage",
            List.of(Stage.values()),
            Stage::label);
    timeToFirstToken =
        meters.histogram(
            Meters.OURS + "time_to_first_token",
            "From a request's arrival to the first token of its streamed answer",
            Meters.UP_TO_FIRST_TOKEN);
    denials =
        meters.counter(Meters.OURS + "allow_list_denials", "Targets that were not on the list");
    tooLarge = meters.counter(Meters.OURS + "request_body_too_large", "Requests answered with 413");
    noRoom =
        meters.counter(
            Meters.OURS + "held_bodies_refused", "Requests answered with 503 for want of room");
    stages(meters);
    Gauge.builder(Meters.OURS + "requests_in_flight", inFlight, LongAdder::sum)
        .description("Requests that are being served")
        .register(registry);
  }

  private void stages(Meters meters) {
    for (Stage stage : Stage.values()) {
      boolean whole = stage == Stage.DECODE || stage == Stage.REQUEST;
      // llm-d has no duration of the request as a whole.
      String prefix = stage == Stage.REQUEST ? Meters.OURS : Meters.LLM_D;
      durations.put(
          stage,
          meters.histogram(
              prefix + stage.label() + "_duration",
              "Duration of " + stage.label(),
              whole ? Meters.WHOLE_ANSWER : Meters.UP_TO_FIRST_TOKEN));
      if (stage != Stage.REQUEST) {
        connections.put(stage, new ConnectionMeters(registry, stage));
      }
    }
  }

  /**
   * Metrics of a sidecar and of its tracing; those of its JVM come with a {@link MetricsServer}.
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

  /** Metrics that are not read and keep nothing: making real ones takes time at the start. */
  public static SidecarMetrics unread() {
    return new SidecarMetrics(new CompositeMeterRegistry(), new ExemplarScope());
  }

  /** Counts the JVM as well. */
  void bindJvm() {
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

  PrometheusMeterRegistry prometheus() {
    if (registry instanceof PrometheusMeterRegistry prometheus) {
      return prometheus;
    }
    throw new IllegalStateException("These metrics are not read");
  }

  /** A request arrived. */
  public void requestArrived(Api api, SpanContext span) {
    record(requests, api, span, 1);
  }

  /** A request is served by several engines: a KV connector's name, or {@link #ENCODE}. */
  public void disaggregated(String type, SpanContext span) {
    record(disaggregated, type, span, 1);
  }

  /** Starts a stage whose end will be counted. */
  public StageRun begin(Stage stage, SpanContext span) {
    return new StageRun(this, stage, span);
  }

  /** A stage has ended, well or not, after so long. */
  public void stageEnded(Stage stage, long nanos, SpanContext span) {
    record(durations, stage, span, nanos);
  }

  /**
   * Records that a stage has failed, and the request with it; its duration is recorded separately.
   */
  public void stageFailed(Stage stage, SpanContext span) {
    record(errors, stage, span, 1);
  }

  /** The first token of a streamed answer has come, so long after the request. */
  public void firstToken(long nanos, SpanContext span) {
    exemplars.record(span, timeToFirstToken, nanos);
  }

  /** A target was not on the allow-list. */
  public void denied() {
    denials.record(1);
  }

  /** A body was larger than allowed. */
  public void bodyTooLarge() {
    tooLarge.record(1);
  }

  /** The bodies held left no room for another. */
  public void noRoomForBody() {
    noRoom.record(1);
  }

  /** Shows how much memory the bodies of requests take. */
  public void showHeldBodies(LongSupplier bytes) {
    Gauge.builder(Meters.OURS + "held_bodies", bytes::getAsLong)
        .description("Memory that bodies of requests take until decode has them")
        .baseUnit("bytes")
        .register(registry);
  }

  /** A request begins to be served; {@link #requestLeft} follows. */
  public void requestEntered() {
    inFlight.increment();
  }

  /** A request is served, one way or the other. */
  public void requestLeft() {
    inFlight.decrement();
  }

  /** Returns the counters of connections to the engines of a stage; REQUEST has none. */
  public ConnectionMeters connections(Stage stage) {
    return held(connections, stage);
  }

  /** Returns the counters for resolving pod names. */
  public NameMeters names() {
    return NameMeters.in(registry);
  }

  private <K> void record(Map<K, Observation> meters, K which, SpanContext span, long value) {
    exemplars.record(span, held(meters, which), value);
  }

  /** Each map holds something for every constant. */
  private static <K, V> V held(Map<K, V> map, K key) {
    V value = map.get(key);
    if (value == null) {
      throw new IllegalStateException("No meter for " + key);
    }
    return value;
  }

  /** Stops listening to the garbage collector, and counts no more. */
  @Override
  public void close() {
    if (gc != null) {
      gc.close();
    }
    registry.close();
  }
}
