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
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A recorded span. Any thread may write to it until it ends; from then on it is immutable, and
 * exporters read it without a copy.
 */
final class RecordingSpan implements ReadWriteSpan, SpanData {

  /** Type, message and stack trace. */
  private static final int EXCEPTION_ATTRIBUTES = 3;

  private static final AttributeKey<String> EXCEPTION_TYPE =
      AttributeKey.stringKey("exception.type");
  private static final AttributeKey<String> EXCEPTION_MESSAGE =
      AttributeKey.stringKey("exception.message");
  private static final AttributeKey<String> EXCEPTION_STACK_TRACE =
      AttributeKey.stringKey("exception.stacktrace");

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
      long startEpochNanos,
      List<LinkData> links) {
    this.tracer = builder.tracer();
    this.context = context;
    this.parent = parent;
    this.kind = builder.kind();
    this.clock = clock;
    this.startEpochNanos = startEpochNanos;
    this.attributes = builder.attributes();
    this.name = builder.name();
    this.links = links;
    this.totalLinks = builder.totalLinks();
  }

  /** Creates an immutable copy. */
  private RecordingSpan(RecordingSpan live) {
    this.tracer = live.tracer;
    this.context = live.context;
    this.parent = live.parent;
    this.kind = live.kind;
    this.clock = live.clock;
    this.startEpochNanos = live.startEpochNanos;
    this.attributes = live.attributes.copy();
    this.name = live.name;
    this.events = List.copyOf(live.events);
    this.links = List.copyOf(live.links);
    this.status = live.status;
    this.totalEvents = live.totalEvents;
    this.totalLinks = live.totalLinks;
    this.endEpochNanos = live.endEpochNanos;
    this.ended = live.ended;
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
    return add(tracer.pipeline().event(clock.now(), eventName, eventAttributes));
  }

  @Override
  public Span addEvent(
      String eventName, Attributes eventAttributes, long timestamp, TimeUnit unit) {
    if (eventName == null || unit == null) {
      return this;
    }
    return add(tracer.pipeline().event(unit.toNanos(timestamp), eventName, eventAttributes));
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
      links.add(tracer.pipeline().link(spanContext, linkAttributes));
    }
    return this;
  }

  @Override
  public synchronized Span setStatus(StatusCode code, String description) {
    // The specification: Ok is final, and Unset never replaces another status.
    boolean ignored = status.getStatusCode() == StatusCode.OK || code == StatusCode.UNSET;
    if (!ended && !ignored && code != null) {
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
    FlatAttributes described = tracer.pipeline().attributes(EXCEPTION_ATTRIBUTES);
    describe(exception, described);
    if (additionalAttributes != null) {
      described.putAll(additionalAttributes);
    }
    return add(ExceptionEventData.create(clock.now(), exception, described, described.total()));
  }

  /** Sets type, message and stack trace, as in the semantic conventions. */
  private static void describe(Throwable thrown, FlatAttributes into) {
    String type = thrown.getClass().getCanonicalName();
    into.put(EXCEPTION_TYPE, type == null ? thrown.getClass().getName() : type);
    try {
      String message = thrown.getMessage();
      if (message != null) {
        into.put(EXCEPTION_MESSAGE, message);
      }
      StringWriter stackTrace = new StringWriter();
      thrown.printStackTrace(new PrintWriter(stackTrace));
      into.put(EXCEPTION_STACK_TRACE, stackTrace.toString());
    } catch (RuntimeException e) {
      // The exception's own methods failed; its type is already set.
      return;
    }
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
    TimeUnit known = unit == null ? TimeUnit.NANOSECONDS : unit;
    endAt(timestamp == 0 ? clock.now() : known.toNanos(timestamp));
  }

  private void endAt(long epochNanos) {
    synchronized (this) {
      if (ended) {
        return;
      }
      endEpochNanos = epochNanos;
      ended = true;
    }
    if (tracer.pipeline().processor().isEndRequired()) {
      tracer.pipeline().processor().onEnd(this);
    }
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
    return snapshot();
  }

  /**
   * Returns this span if it has ended, else a copy. Exporters read an ended span often, so this
   * takes no lock.
   */
  private RecordingSpan snapshot() {
    return ended ? this : copy();
  }

  private synchronized RecordingSpan copy() {
    return new RecordingSpan(this);
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
  public String getName() {
    return snapshot().name;
  }

  @Override
  public SpanKind getKind() {
    return kind;
  }

  @Override
  public StatusData getStatus() {
    return snapshot().status;
  }

  @Override
  public long getStartEpochNanos() {
    return startEpochNanos;
  }

  @Override
  public long getEndEpochNanos() {
    return snapshot().endEpochNanos;
  }

  @Override
  public long getLatencyNanos() {
    return (ended ? endEpochNanos : clock.now()) - startEpochNanos;
  }

  @Override
  public synchronized <T> @Nullable T getAttribute(AttributeKey<T> key) {
    return attributes.get(key);
  }

  @Override
  public Attributes getAttributes() {
    return snapshot().attributes;
  }

  @Override
  public String toString() {
    return getName() + " " + context + " " + getAttributes() + " " + getStatus();
  }

  @Override
  public List<EventData> getEvents() {
    return List.copyOf(snapshot().events);
  }

  @Override
  public List<LinkData> getLinks() {
    return List.copyOf(snapshot().links);
  }

  @Override
  public int getTotalRecordedEvents() {
    return snapshot().totalEvents;
  }

  @Override
  public int getTotalRecordedLinks() {
    return snapshot().totalLinks;
  }

  @Override
  public int getTotalAttributeCount() {
    return snapshot().attributes.total();
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
