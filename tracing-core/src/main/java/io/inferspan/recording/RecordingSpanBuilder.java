package io.inferspan.recording;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanId;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceId;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.samplers.SamplingDecision;
import io.opentelemetry.sdk.trace.samplers.SamplingResult;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Collects the properties of a span before it starts, and calls the sampler. */
public final class RecordingSpanBuilder implements SpanBuilder {

  /** The W3C flag of random trace ids. */
  private static final byte RANDOM_TRACE_ID = 0x02;

  /**
   * The parent that a sampler gets for a root span: without ids, but with the flag for a random
   * trace id.
   */
  private static final Span RANDOM_ROOT =
      Span.wrap(
          SpanContext.create(
              TraceId.getInvalid(),
              SpanId.getInvalid(),
              TraceFlags.fromByte(RANDOM_TRACE_ID),
              TraceState.getDefault()));

  private static final Context RANDOM_ROOT_CONTEXT = Context.root().with(RANDOM_ROOT);

  private static final byte SAMPLED = 0x01;

  private final RecordingTracer tracer;
  private final String name;
  private final int capacity;
  private @Nullable FlatAttributes attributes;
  private SpanKind kind;
  private @Nullable Context parent;
  private List<LinkData> links = List.of();
  private int totalLinks;
  private long startEpochNanos;
  private boolean refused;

  RecordingSpanBuilder(RecordingTracer tracer, String name, SpanKind kind, int capacity) {
    this.tracer = tracer;
    this.name = name;
    this.kind = kind;
    this.capacity = capacity;
  }

  @Override
  public Span startSpan() {
    Context context = parent == null ? Context.current() : parent;
    Span parentSpan = Span.fromContext(context);
    SpanContext parentContext = parentSpan.getSpanContext();
    SpanPipeline pipeline = tracer.pipeline();
    boolean child = parentContext.isValid();
    String traceId = child ? parentContext.getTraceId() : pipeline.ids().generateTraceId();
    List<LinkData> linked = links;
    links = List.of();
    SamplingResult sampling =
        pipeline
            .sampler()
            .shouldSample(
                child ? context : withRandomRoot(context),
                traceId,
                name,
                kind,
                attributes == null ? Attributes.empty() : attributes,
                Collections.unmodifiableList(linked));
    SamplingDecision decision = sampling.getDecision();
    TraceState state = sampling.getUpdatedTraceState(parentContext.getTraceState());
    byte inherited = child ? parentContext.getTraceFlags().asByte() : RANDOM_TRACE_ID;
    boolean sampled = decision == SamplingDecision.RECORD_AND_SAMPLE;
    if (sampled && !(parentSpan instanceof RecordingSpan) && pipeline.intake().isNearlyFull()) {
      refused = true;
      pipeline.intake().refused();
      // Propagate the caller's context; a new trace is unsampled, because its root is not recorded.
      return Span.wrap(child ? parentContext : newContext(traceId, inherited, false, state));
    }
    SpanContext own = newContext(traceId, inherited, sampled, state);
    if (decision == SamplingDecision.DROP) {
      return Span.wrap(own);
    }
    if (!sampling.getAttributes().isEmpty()) {
      attributes().putAll(sampling.getAttributes());
    }
    TraceClock clock = TraceClock.of(parentSpan, pipeline.clock());
    long start = startEpochNanos != 0 ? startEpochNanos : clock.now();
    RecordingSpan span = new RecordingSpan(this, own, parentContext, clock, start, linked);
    // The span owns the collected attributes; a reused builder starts empty.
    attributes = null;
    if (pipeline.processor().isStartRequired()) {
      pipeline.processor().onStart(context, span);
    }
    return span;
  }

  @SuppressWarnings("ReferenceEquality") // there is one root
  private static Context withRandomRoot(Context context) {
    return context == Context.root() ? RANDOM_ROOT_CONTEXT : context.with(RANDOM_ROOT);
  }

  private SpanContext newContext(
      String traceId, byte inherited, boolean sampled, TraceState state) {
    TraceFlags flags =
        TraceFlags.fromByte((byte) ((inherited & RANDOM_TRACE_ID) | (sampled ? SAMPLED : 0)));
    return SpanContext.create(traceId, tracer.pipeline().ids().generateSpanId(), flags, state);
  }

  /** Returns whether the started span was dropped because the queue was nearly full. */
  public boolean refused() {
    return refused;
  }

  RecordingTracer tracer() {
    return tracer;
  }

  String name() {
    return name;
  }

  SpanKind kind() {
    return kind;
  }

  FlatAttributes attributes() {
    FlatAttributes collected = attributes;
    if (collected == null) {
      collected = tracer.pipeline().attributes(capacity);
      attributes = collected;
    }
    return collected;
  }

  int totalLinks() {
    return totalLinks;
  }

  @Override
  public RecordingSpanBuilder setParent(Context context) {
    parent = context;
    return this;
  }

  @Override
  public SpanBuilder setNoParent() {
    parent = Context.root();
    return this;
  }

  @Override
  public SpanBuilder addLink(SpanContext spanContext) {
    return addLink(spanContext, Attributes.empty());
  }

  @Override
  public SpanBuilder addLink(SpanContext spanContext, Attributes linkAttributes) {
    if (spanContext != null && spanContext.isValid()) {
      totalLinks++;
      if (links.size() < tracer.pipeline().limits().getMaxNumberOfLinks()) {
        links = links.isEmpty() ? new ArrayList<>() : links;
        links.add(tracer.pipeline().link(spanContext, linkAttributes));
      }
    }
    return this;
  }

  @Override
  public SpanBuilder setAttribute(String key, @Nullable String value) {
    return setAttribute(AttributeKey.stringKey(key), value);
  }

  @Override
  public SpanBuilder setAttribute(String key, long value) {
    return setAttribute(AttributeKey.longKey(key), (Long) value);
  }

  @Override
  public SpanBuilder setAttribute(String key, double value) {
    return setAttribute(AttributeKey.doubleKey(key), (Double) value);
  }

  @Override
  public SpanBuilder setAttribute(String key, boolean value) {
    return setAttribute(AttributeKey.booleanKey(key), (Boolean) value);
  }

  @Override
  public <T> SpanBuilder setAttribute(AttributeKey<T> key, @Nullable T value) {
    if (value != null && key != null && !key.getKey().isEmpty()) {
      attributes().put(key, value);
    }
    return this;
  }

  @Override
  public SpanBuilder setSpanKind(SpanKind spanKind) {
    kind = spanKind == null ? kind : spanKind;
    return this;
  }

  @Override
  public SpanBuilder setStartTimestamp(long startTimestamp, TimeUnit unit) {
    if (startTimestamp >= 0 && unit != null) {
      startEpochNanos = unit.toNanos(startTimestamp);
    }
    return this;
  }
}
