package io.inferspan.gateway;

import io.inferspan.OperationSpan;
import io.inferspan.PendingSpan;
import io.inferspan.Telemetry;
import io.inferspan.catalog.GatewaySpans;
import io.inferspan.catalog.SpanNaming;
import io.inferspan.epp.values.ShortValues;
import io.inferspan.gateway.metrics.GatewayMeters;
import io.inferspan.semconv.CommonAttributes;
import io.inferspan.semconv.EppAttributes;
import io.inferspan.semconv.GenAiAttributes;
import io.micrometer.core.instrument.MeterRegistry;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.propagation.TextMapSetter;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The door for gateways: it begins the trace of each request that arrives.
 *
 * <p>One serves a whole process. No method throws at request time, and where a trace is not sampled
 * and nobody counts, nothing is looked at.
 */
public final class GatewayTracing {

  private static final String OTHER_METHOD = "_OTHER";
  private static final Set<String> METHODS =
      Set.of("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT");
  private static final String HEADER = "header";
  private static final Long NO_PRIORITY = 0L;

  /** For spans that the chosen generation of names does not have. */
  private static final Telemetry NOBODY = Telemetry.using(OpenTelemetry.noop());

  private final Telemetry telemetry;
  private final @Nullable GatewayMeters meters;
  private final AttemptSpans attemptSpans;
  private final @Nullable String provider;
  private final LongSupplier nanoTime;
  private final @Nullable Map<String, Long> priorities;
  private final boolean writesTraceparent;

  private GatewayTracing(Builder builder) {
    this.telemetry = builder.telemetry;
    this.meters =
        builder.registry == null ? null : new GatewayMeters(builder.registry, builder.maxModels);
    this.attemptSpans = builder.attemptSpans;
    this.provider = builder.provider;
    this.nanoTime = builder.nanoTime;
    this.priorities = builder.priorities;
    this.writesTraceparent =
        telemetry
            .openTelemetry()
            .getPropagators()
            .getTextMapPropagator()
            .fields()
            .contains(TraceSetter.TRACEPARENT);
  }

  /** Tracing as it is without any setting. */
  public static GatewayTracing of(Telemetry telemetry) {
    return with(telemetry).build();
  }

  /** The way to tracing with settings. */
  public static Builder with(Telemetry telemetry) {
    return new Builder(telemetry);
  }

  /** Begins the trace of a request; to be called before anything else is done for it. */
  public GatewayRequest begin(GatewayExchange exchange) {
    PendingSpan pending =
        telemetry.span(GatewaySpans.REQUEST, telemetry.extract(exchange, ExchangeHeaders.HEADERS));
    return meters == null && !pending.mayRecord()
        ? new GatewayRequest(this, pending.start(), Arrival.UNSEEN)
        : begin(exchange, pending);
  }

  private GatewayRequest begin(GatewayExchange exchange, PendingSpan pending) {
    long nanos = nanoTime.getAsLong();
    Arrival arrival =
        Arrival.now(known(exchange.method()), Api.of(exchange.path()), nanos, priority(exchange));
    String route = exchange.route();
    OperationSpan span =
        pending
            .startingAt(arrival.epochNanos())
            .set(CommonAttributes.HTTP_REQUEST_METHOD, arrival.method())
            .set(CommonAttributes.HTTP_ROUTE, route == null ? arrival.api().route() : route)
            .set(GenAiAttributes.OPERATION, arrival.api().operation())
            .set(GenAiAttributes.PROVIDER, provider)
            .start();
    if (span.recording()) {
      identify(span, exchange);
    }
    return new GatewayRequest(this, span, arrival);
  }

  private static void identify(OperationSpan span, GatewayExchange exchange) {
    span.set(GenAiAttributes.REQUEST_ID, ShortValues.of(exchange.header("x-request-id")));
    String tenant = exchange.header("x-llm-d-inference-fairness-id");
    if (tenant == null) {
      tenant = exchange.header("x-gateway-inference-fairness-id");
    }
    if (tenant != null) {
      span.set(EppAttributes.FAIRNESS_ID, ShortValues.of(tenant))
          .set(EppAttributes.FAIRNESS_SOURCE, HEADER);
    }
  }

  /**
   * Whether an engine has answered for this model with success, and it is among those that have a
   * tag of their own; none is where nobody counts.
   */
  public boolean hasServed(String model) {
    GatewayMeters counted = meters;
    return counted != null && counted.hasServed(model);
  }

  /** As llm-d has it, a request of no objective, or of one that nobody knows, has none: 0. */
  private @Nullable Long priority(GatewayExchange exchange) {
    Map<String, Long> known = priorities;
    if (known == null) {
      return null;
    }
    String objective = exchange.header("x-llm-d-inference-objective");
    if (objective == null) {
      objective = exchange.header("x-gateway-inference-objective");
    }
    return objective == null ? NO_PRIORITY : known.getOrDefault(objective, NO_PRIORITY);
  }

  OperationSpan orchestration(OperationSpan request, String targetModel, @Nullable Long priority) {
    Telemetry to = telemetry.spanNaming() == SpanNaming.PROPOSAL ? NOBODY : telemetry;
    return to.span(GatewaySpans.ORCHESTRATION, request)
        .set(EppAttributes.TARGET_MODEL, ShortValues.of(targetModel))
        .set(EppAttributes.REQUEST_PRIORITY, priority)
        .start();
  }

  /** Writes the trace of a span into headers, of which no more than one trace is to leave. */
  <C> void inject(OperationSpan span, C headers, TextMapSetter<C> setter) {
    telemetry.inject(span, headers, setter);
    if (setter instanceof TraceSetter<C> exact && !writes(span)) {
      try {
        exact.dropSeveral(headers);
      } catch (RuntimeException e) {
        // Headers that cannot be changed leave as they are.
      }
    }
  }

  private boolean writes(OperationSpan span) {
    return writesTraceparent && Span.fromContext(span.context()).getSpanContext().isValid();
  }

  /** The method, if it is one: a client may make up any word. */
  private static String known(String method) {
    return METHODS.contains(method) ? method : OTHER_METHOD;
  }

  Telemetry telemetry() {
    return telemetry;
  }

  @Nullable GatewayMeters meters() {
    return meters;
  }

  boolean everyAttemptHasSpan() {
    return attemptSpans == AttemptSpans.ALWAYS;
  }

  long now() {
    return nanoTime.getAsLong();
  }

  /** Collects settings. */
  public static final class Builder {

    private static final int DEFAULT_MAX_MODELS = 64;

    private final Telemetry telemetry;
    private @Nullable MeterRegistry registry;
    private int maxModels = DEFAULT_MAX_MODELS;
    private AttemptSpans attemptSpans = AttemptSpans.ON_RETRY;
    private @Nullable String provider;
    private LongSupplier nanoTime = System::nanoTime;
    private @Nullable Map<String, Long> priorities;

    private Builder(Telemetry telemetry) {
      this.telemetry = telemetry;
    }

    /** Counts requests, too, in the meters of the GenAI conventions. */
    public Builder meters(MeterRegistry registry) {
      this.registry = registry;
      return this;
    }

    /**
     * How many models have a tag of their own; all others are {@code other}. 64 unless set.
     *
     * <p>A model gets one when an engine has answered for it: a name that only a client knows is no
     * tag.
     */
    public Builder maxModels(int models) {
      if (models < 0) {
        throw new IllegalArgumentException("maxModels is " + models + ", must be 0 or more");
      }
      this.maxModels = models;
      return this;
    }

    /** Which calls of engines get a span; {@link AttemptSpans#ON_RETRY} unless set. */
    public Builder attemptSpans(AttemptSpans which) {
      this.attemptSpans = which;
      return this;
    }

    /** Who serves the models, such as {@code vllm}; not told unless set. */
    public Builder provider(String name) {
      this.provider = name;
      return this;
    }

    /**
     * What priorities objectives give, by their names, as {@code x-llm-d-inference-objective} names
     * them; spans of scheduling then tell a request's, and 0 where it has none. Not told unless
     * set.
     */
    public Builder priorities(Map<String, Long> byObjective) {
      this.priorities = Map.copyOf(byObjective);
      return this;
    }

    Builder clock(LongSupplier monotonicNanos) {
      this.nanoTime = monotonicNanos;
      return this;
    }

    /** Makes the tracing. */
    public GatewayTracing build() {
      return new GatewayTracing(this);
    }
  }
}
