package io.inferspan.recording;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.sdk.common.InstrumentationLibraryInfo;
import io.opentelemetry.sdk.common.InstrumentationScopeInfo;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.data.EventData;
import io.opentelemetry.sdk.trace.data.ExceptionEventData;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.data.StatusData;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A span that is recorded: it can be written to from any thread until it has ended, and is what is
 * exported from then on.
 */
final class RecordingSpan implements ReadWriteSpan, SpanData {

  private final RecordingTracer tracer;
  private final SpanContext context;
  private final SpanContext parent;
  private final SpanKind kind;
  private final TraceClock clock;
  private final long startEpochNanos;

  // Guarded by this until the span has ended; never written to afterwards.
  private final FlatAttributes attributes;
  private String name;
  private List<EventData> events = List.of();
  private List<LinkData> links;
  private StatusData status = StatusData.unset();
  private int totalEvents;
  private int totalLinks;
  private long endEpochNanos;
  private volatile boolean ended;

  RecordingSpan(
      RecordingSpanBuilder builder,
      SpanContext context,
      SpanContext parent,
      TraceClock clock,
      long startEpochNanos) {
    this.tracer = builder.tracer();
    this.context = context;
    this.parent = parent;
    this.kind = builder.kind();
    this.clock = clock;
    this.startEpochNanos = startEpochNanos;
    this.attributes = builder.attributes();
    this.name = builder.name();
    this.links = builder.links();
    this.totalLinks = builder.totalLinks();
  }

  TraceClock clock() {
    return clock;
  }

  @Override
  public synchronized <T> Span setAttribute(AttributeKey<T> key, @Nullable T value) {
    if (!ended && value != null && key != null && !key.getKey().isEmpty()) {
      attributes.put(key, value);
    }
    return this;
  }

  @Override
  public Span addEvent(String eventName, Attributes eventAttributes) {
    if (eventName == null) {
      return this;
    }
    return add(EventData.create(clock.now(), eventName, orEmpty(eventAttributes)));
  }

  @Override
  public Span addEvent(
      String eventName, Attributes eventAttributes, long timestamp, TimeUnit unit) {
    if (eventName == null || unit == null) {
      return this;
    }
    return add(EventData.create(unit.toNanos(timestamp), eventName, orEmpty(eventAttributes)));
  }

  @SuppressWarnings("NullAway") // others call this, and not all of them check
  static Attributes orEmpty(Attributes given) {
    return given == null ? Attributes.empty() : given;
  }

  private synchronized Span add(EventData event) {
    if (ended) {
      return this;
    }
    totalEvents++;
    if (totalEvents <= tracer.pipeline().limits().getMaxNumberOfEvents()) {
      events = events.isEmpty() ? new ArrayList<>() : events;
      events.add(event);
    }
    return this;
  }

  @Override
  public synchronized Span addLink(SpanContext spanContext, Attributes linkAttributes) {
    if (ended || spanContext == null || !spanContext.isValid()) {
      return this;
    }
    totalLinks++;
    if (totalLinks <= tracer.pipeline().limits().getMaxNumberOfLinks()) {
      links = new ArrayList<>(links);
      links.add(LinkData.create(spanContext, orEmpty(linkAttributes)));
    }
    return this;
  }

  @Override
  public synchronized Span setStatus(StatusCode code, String description) {
    // An Ok is final, and nothing goes back to Unset: so the specification has it.
    boolean settled = status.getStatusCode() == StatusCode.OK || code == StatusCode.UNSET;
    if (!ended && !settled && code != null) {
      boolean described = code == StatusCode.ERROR && description != null;
      status = StatusData.create(code, described ? description : "");
    }
    return this;
  }

  @Override
  public Span recordException(Throwable exception, Attributes additionalAttributes) {
    if (exception == null) {
      return this;
    }
    Attributes described = ThrownAttributes.of(exception, orEmpty(additionalAttributes));
    return add(ExceptionEventData.create(clock.now(), exception, described, described.size()));
  }

  @Override
  public synchronized Span updateName(String newName) {
    if (!ended && newName != null) {
      name = newName;
    }
    return this;
  }

  @Override
  public void end() {
    endAt(clock.now());
  }

  @Override
  public void end(long timestamp, TimeUnit unit) {
    endAt(timestamp <= 0 || unit == null ? clock.now() : unit.toNanos(timestamp));
  }

  private void endAt(long epochNanos) {
    synchronized (this) {
      if (ended) {
        return;
      }
      ended = true;
      endEpochNanos = epochNanos;
    }
    tracer.pipeline().processor().onEnd(this);
  }

  @Override
  public boolean isRecording() {
    return !ended;
  }

  @Override
  public boolean hasEnded() {
    return ended;
  }

  @Override
  public SpanData toSpanData() {
    return this;
  }

  @Override
  public SpanContext getSpanContext() {
    return context;
  }

  @Override
  public SpanContext getParentSpanContext() {
    return parent;
  }

  @Override
  public synchronized String getName() {
    return name;
  }

  @Override
  public SpanKind getKind() {
    return kind;
  }

  @Override
  public synchronized StatusData getStatus() {
    return status;
  }

  @Override
  public long getStartEpochNanos() {
    return startEpochNanos;
  }

  @Override
  public synchronized long getEndEpochNanos() {
    return endEpochNanos;
  }

  @Override
  public synchronized long getLatencyNanos() {
    return (ended ? endEpochNanos : clock.now()) - startEpochNanos;
  }

  @Override
  public synchronized <T> @Nullable T getAttribute(AttributeKey<T> key) {
    return attributes.get(key);
  }

  @Override
  public synchronized Attributes getAttributes() {
    return ended ? attributes : attributes.copy();
  }

  @Override
  public synchronized List<EventData> getEvents() {
    return List.copyOf(events);
  }

  @Override
  public synchronized List<LinkData> getLinks() {
    return List.copyOf(links);
  }

  @Override
  public synchronized int getTotalRecordedEvents() {
    return totalEvents;
  }

  @Override
  public synchronized int getTotalRecordedLinks() {
    return totalLinks;
  }

  @Override
  public synchronized int getTotalAttributeCount() {
    return attributes.total();
  }

  @Override
  public Resource getResource() {
    return tracer.pipeline().resource();
  }

  @Override
  public InstrumentationScopeInfo getInstrumentationScopeInfo() {
    return tracer.scope();
  }

  @Override
  @Deprecated
  public InstrumentationLibraryInfo getInstrumentationLibraryInfo() {
    InstrumentationScopeInfo scope = tracer.scope();
    return InstrumentationLibraryInfo.create(
        scope.getName(), scope.getVersion(), scope.getSchemaUrl());
  }
}
