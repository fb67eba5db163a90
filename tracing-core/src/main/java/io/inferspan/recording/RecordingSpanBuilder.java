package io.inferspan.recording;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.samplers.SamplingDecision;
import io.opentelemetry.sdk.trace.samplers.SamplingResult;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Collects what is known of a span before it starts, and asks the sampler. */
final class RecordingSpanBuilder implements SpanBuilder {

  /** The W3C flag of trace ids that are random, which those that we make are. */
  private static final byte RANDOM_TRACE_ID = 0x02;

  private static final byte SAMPLED = 0x01;

  private final RecordingTracer tracer;
  private final String name;
  private final int room;
  private @Nullable FlatAttributes attributes;
  private SpanKind kind;
  private @Nullable Context parent;
  private List<LinkData> links = List.of();
  private int totalLinks;
  private long startEpochNanos;

  RecordingSpanBuilder(RecordingTracer tracer, String name, SpanKind kind, int room) {
    this.tracer = tracer;
    this.name = name;
    this.kind = kind;
    this.room = room;
  }

  @Override
  public Span startSpan() {
    Context context = parent == null ? Context.current() : parent;
    Span parentSpan = Span.fromContext(context);
    SpanContext parentContext = parentSpan.getSpanContext();
    SpanPipeline pipeline = tracer.pipeline();
    boolean child = parentContext.isValid();
    String traceId = child ? parentContext.getTraceId() : pipeline.traceIds().get();
    Attributes known = attributes == null ? Attributes.empty() : attributes;
    SamplingResult sampling =
        pipeline.sampler().shouldSample(context, traceId, name, kind, known, links);
    SamplingDecision decision = sampling.getDecision();
    TraceState state = sampling.getUpdatedTraceState(parentContext.getTraceState());
    TraceFlags flags =
        flags(child ? parentContext.getTraceFlags().asByte() : RANDOM_TRACE_ID, decision);
    SpanContext own = new LocalSpanContext(traceId, pipeline.spanId(), flags, state);
    if (decision == SamplingDecision.DROP) {
      return Span.wrap(own);
    }
    if (own.isSampled() && !(parentSpan instanceof RecordingSpan) && pipeline.isCrowded()) {
      // Sampled, and not recording: others in the trace go on, under the parent that has come.
      return Span.wrap(child ? parentContext : own);
    }
    addAll(sampling.getAttributes());
    TraceClock clock =
        parentSpan instanceof RecordingSpan local
            ? local.clock()
            : new TraceClock(pipeline.clock());
    long start = startEpochNanos != 0 ? startEpochNanos : clock.now();
    RecordingSpan span = new RecordingSpan(this, own, parentContext, clock, start);
    // What was collected is the span's from now on; a builder that is used again begins anew.
    attributes = null;
    links = List.of();
    if (pipeline.processor().isStartRequired()) {
      pipeline.processor().onStart(context, span);
    }
    return span;
  }

  private static TraceFlags flags(byte inherited, SamplingDecision decision) {
    int sampled = decision == SamplingDecision.RECORD_AND_SAMPLE ? SAMPLED : 0;
    return TraceFlags.fromByte((byte) ((inherited & RANDOM_TRACE_ID) | sampled));
  }

  @SuppressWarnings("unchecked") // the key and the value come from the same pair
  private void addAll(Attributes sampled) {
    if (!sampled.isEmpty()) {
      sampled.forEach((key, value) -> attributes().put((AttributeKey<Object>) key, value));
    }
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
      collected = tracer.pipeline().attributes(room);
      attributes = collected;
    }
    return collected;
  }

  List<LinkData> links() {
    return links;
  }

  int totalLinks() {
    return totalLinks;
  }

  @Override
  public SpanBuilder setParent(Context context) {
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
        links.add(LinkData.create(spanContext, RecordingSpan.orEmpty(linkAttributes)));
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
