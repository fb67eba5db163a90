package io.inferspan.privacy;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.sdk.common.InstrumentationScopeInfo;
import io.opentelemetry.sdk.trace.data.DelegatingSpanData;
import io.opentelemetry.sdk.trace.data.EventData;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.data.StatusData;
import java.util.List;

/** A span without the data that must not be exported. */
final class ScrubbedSpan extends DelegatingSpanData {

  private static final String UNREADABLE = "unreadable";

  private final String name;
  private final InstrumentationScopeInfo scope;
  private final Attributes attributes;
  private final List<EventData> events;
  private final List<LinkData> links;
  private final StatusData status;
  private final SpanContext context;
  private final SpanContext parent;

  /** Creates a view of {@code span} that contains what {@code guard} allows. */
  ScrubbedSpan(SpanData span, PrivacyGuard guard) {
    super(span);
    this.name = guard.name(span.getName());
    this.scope = guard.scope(span.getInstrumentationScopeInfo());
    this.attributes = guard.attributes(span.getAttributes());
    this.events = guard.events(span.getEvents());
    this.links = guard.links(span.getLinks());
    this.status = guard.status(span.getStatus());
    this.context = PrivacyGuard.withoutForeignState(span.getSpanContext());
    this.parent = PrivacyGuard.withoutForeignState(span.getParentSpanContext());
  }

  /**
   * Creates a view of {@code span} without name, attributes, events, links and status description.
   */
  ScrubbedSpan(SpanData span) {
    super(span);
    this.name = UNREADABLE;
    this.scope = span.getInstrumentationScopeInfo();
    this.attributes = Attributes.empty();
    this.events = List.of();
    this.links = List.of();
    this.status = StatusData.create(span.getStatus().getStatusCode(), "");
    this.context = PrivacyGuard.withoutForeignState(span.getSpanContext());
    this.parent = PrivacyGuard.withoutForeignState(span.getParentSpanContext());
  }

  @Override
  public String getName() {
    return name;
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
  public InstrumentationScopeInfo getInstrumentationScopeInfo() {
    return scope;
  }

  @Override
  public Attributes getAttributes() {
    return attributes;
  }

  @Override
  public List<EventData> getEvents() {
    return events;
  }

  @Override
  public List<LinkData> getLinks() {
    return links;
  }

  @Override
  public StatusData getStatus() {
    return status;
  }
}
