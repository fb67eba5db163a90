package io.inferspan.gateway;

import io.inferspan.OperationSpan;
import io.inferspan.PendingSpan;
import io.inferspan.Telemetry;
import io.inferspan.catalog.GatewaySpans;
import io.inferspan.catalog.SpanNaming;
import io.inferspan.gateway.metrics.GatewayMeters;
import io.inferspan.propagation.RequestId;
import io.inferspan.semconv.CommonAttributes;
import io.inferspan.semconv.EppAttributes;
import io.inferspan.semconv.GenAiAttributes;
import io.inferspan.values.ShortValues;
import io.micrometer.core.instrument.MeterRegistry;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.context.propagation.TextMapSetter;
import java.util.Collections;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The entry point for gateways: starts the span of each incoming request.
 *
 * <p>Create one instance per process. Methods for requests do not throw. If a trace is not sampled
 * and there are no meters, bodies are not inspected.
 */
public final class GatewayTracing {

  private static final String OTHER_METHOD = "_OTHER";
  private static final Set<String> METHODS =
      Set.of("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT");
  private static final String HEADER = "header";
  private static final Long NO_PRIORITY = 0L;

  /** Records nothing, for spans that the selected naming scheme does not define. */
  private static final Telemetry NOOP = Telemetry.using(OpenTelemetry.noop());

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
        builder.registry == null
            ? null
            : new GatewayMeters(builder.registry, builder.maxModels, builder.maxTenants);
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

  /** Creates an instance with the defaults. */
  public static GatewayTracing create(Telemetry telemetry) {
    return builder(telemetry).build();
  }

  /** Creates a builder. */
  public static Builder builder(Telemetry telemetry) {
    return new Builder(telemetry);
  }

  /**
   * Begins the span of a request, in the trace that its headers name. Call it before any other work
   * for the request.
   */
  public GatewayRequest begin(GatewayExchange exchange) {
    return beginIn(
        telemetry.extract(exchange, Headers.OF_EXCHANGE, GatewayExchange::peer), exchange);
  }

  /**
   * Begins the span of a request as a child of the span in {@code parent}, such as a server span
   * that the Java agent or Spring has started: pass {@code Context.current()}.
   *
   * <p>The trace headers of the request are read only if {@code parent} has no span.
   */
  public GatewayRequest begin(GatewayExchange exchange, Context parent) {
    return Span.fromContext(parent).getSpanContext().isValid()
        ? beginIn(parent, exchange)
        : begin(exchange);
  }

  private GatewayRequest beginIn(Context parent, GatewayExchange exchange) {
    PendingSpan pending = telemetry.span(GatewaySpans.REQUEST, parent);
    return meters == null && !pending.mayRecord()
        ? new GatewayRequest(
            this, pending.start(), Arrival.UNSEEN, exchange.header(RequestId.HEADER))
        : begin(exchange, pending);
  }

  private GatewayRequest begin(GatewayExchange exchange, PendingSpan pending) {
    long nanos = nanoTime.getAsLong();
    Arrival arrival =
        Arrival.now(
            known(exchange.method()),
            Api.of(exchange.path()),
            nanos,
            tenant(exchange),
            priority(exchange));
    String route = exchange.route();
    OperationSpan span =
        pending
            .startingAt(arrival.epochNanos())
            .set(CommonAttributes.HTTP_REQUEST_METHOD, arrival.method())
            .set(CommonAttributes.HTTP_ROUTE, route == null ? arrival.api().route() : route)
            .set(GenAiAttributes.OPERATION, arrival.api().operation())
            .set(GenAiAttributes.PROVIDER, provider)
            .start();
    String id = RequestId.of(exchange.header(RequestId.HEADER));
    span.set(GenAiAttributes.REQUEST_ID, ShortValues.of(id));
    if (arrival.tenant() != null) {
      span.set(EppAttributes.FAIRNESS_ID, arrival.tenant())
          .set(EppAttributes.FAIRNESS_SOURCE, HEADER);
    }
    return new GatewayRequest(this, span, arrival, id);
  }

  private static @Nullable String tenant(GatewayExchange exchange) {
    String tenant = exchange.header("x-llm-d-inference-fairness-id");
    return ShortValues.of(
        tenant == null ? exchange.header("x-gateway-inference-fairness-id") : tenant);
  }

  /**
   * Returns whether an engine has successfully answered for this model and the model has its own
   * tag; always false without meters.
   */
  public boolean hasServed(String model) {
    GatewayMeters counted = meters;
    return counted != null && counted.hasServed(model);
  }

  /**
   * Returns the priority of the request's objective; 0 if it has no objective or an unknown one, as
   * in llm-d; null if no priorities are configured.
   */
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
    Telemetry to = telemetry.spanNaming() == SpanNaming.PROPOSAL ? NOOP : telemetry;
    return to.span(GatewaySpans.ORCHESTRATION, request)
        .set(EppAttributes.TARGET_MODEL, ShortValues.of(targetModel))
        .set(EppAttributes.REQUEST_PRIORITY, priority)
        .start();
  }

  /** Writes a span's context and the request's id into headers, replacing existing values. */
  <C> void inject(OperationSpan span, String requestId, C headers, TextMapSetter<C> setter) {
    telemetry.inject(span, headers, setter);
    try {
      setter.set(headers, RequestId.HEADER, requestId);
      if (setter instanceof TraceSetter<C> exact && !writes(span)) {
        exact.removeDuplicates(headers);
      }
    } catch (RuntimeException e) {
      // The headers may be immutable; they are then sent unchanged.
    }
  }

  private boolean writes(OperationSpan span) {
    return writesTraceparent && Span.fromContext(span.context()).getSpanContext().isValid();
  }

  /** Returns the method, or {@code _OTHER} if it is not a known one. */
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

  /** Reads trace context from the headers of an exchange. */
  private enum Headers implements TextMapGetter<GatewayExchange> {
    OF_EXCHANGE;

    @Override
    public @Nullable String get(@Nullable GatewayExchange exchange, String name) {
      return exchange == null ? null : exchange.header(name);
    }

    @Override
    public Iterator<String> getAll(@Nullable GatewayExchange exchange, String name) {
      return exchange == null ? Collections.emptyIterator() : exchange.headers(name);
    }
  }

  /** Builder for {@link GatewayTracing}. */
  public static final class Builder {

    private static final int DEFAULT_MAX_NAMES = 64;

    private final Telemetry telemetry;
    private @Nullable MeterRegistry registry;
    private int maxModels = DEFAULT_MAX_NAMES;
    private int maxTenants = DEFAULT_MAX_NAMES;
    private AttemptSpans attemptSpans = AttemptSpans.ON_RETRY;
    private @Nullable String provider;
    private LongSupplier nanoTime = System::nanoTime;
    private @Nullable Map<String, Long> priorities;

    private Builder(Telemetry telemetry) {
      this.telemetry = telemetry;
    }

    /** Records the metrics of the GenAI conventions in {@code registry}; none by default. */
    public Builder meters(MeterRegistry registry) {
      this.registry = registry;
      return this;
    }

    /**
     * Sets how many models have their own tag; all others are {@code other}. Defaults to 64.
     *
     * <p>A model gets a tag with its first successful request, so that clients cannot create tags.
     */
    public Builder maxModels(int models) {
      this.maxModels = notNegative("maxModels", models);
      return this;
    }

    /**
     * Sets how many tenants have their own tag; all others are {@code other}. Defaults to 64.
     *
     * <p>The header {@code x-llm-d-inference-fairness-id} names the tenant, which gets a tag with
     * its first successful request.
     */
    public Builder maxTenants(int tenants) {
      this.maxTenants = notNegative("maxTenants", tenants);
      return this;
    }

    private static int notNegative(String name, int count) {
      if (count < 0) {
        throw new IllegalArgumentException(name + " is " + count + ", but must be 0 or more");
      }
      return count;
    }

    /** Sets which calls to engines get a span; {@link AttemptSpans#ON_RETRY} by default. */
    public Builder attemptSpans(AttemptSpans which) {
      this.attemptSpans = which;
      return this;
    }

    /** Sets the provider of the models, such as {@code vllm}; omitted by default. */
    public Builder provider(String name) {
      this.provider = name;
      return this;
    }

    /**
     * Sets the priorities of objectives by name, as in {@code x-llm-d-inference-objective}.
     * Scheduling spans then record a request's priority, 0 if it has none. Omitted by default.
     */
    public Builder priorities(Map<String, Long> byObjective) {
      this.priorities = Map.copyOf(byObjective);
      return this;
    }

    Builder clock(LongSupplier monotonicNanos) {
      this.nanoTime = monotonicNanos;
      return this;
    }

    /** Builds the instance. */
    public GatewayTracing build() {
      return new GatewayTracing(this);
    }
  }
}
