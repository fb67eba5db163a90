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

/** A span as it may leave. */
final class ScrubbedSpan extends DelegatingSpanData {

  private final Parts parts;
  private final SpanContext context;
  private final SpanContext parent;

  ScrubbedSpan(SpanData span, Parts parts, SpanContext context, SpanContext parent) {
    super(span);
    this.parts = parts;
    this.context = context;
    this.parent = parent;
  }

  @Override
  public String getName() {
    return parts.name();
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
    return parts.scope();
  }

  @Override
  public Attributes getAttributes() {
    return parts.attributes();
  }

  @Override
  public List<EventData> getEvents() {
    return parts.events();
  }

  @Override
  public List<LinkData> getLinks() {
    return parts.links();
  }

  @Override
  public StatusData getStatus() {
    return parts.status();
  }

  /** What may differ from the span that was recorded. */
  record Parts(
      String name,
      InstrumentationScopeInfo scope,
      Attributes attributes,
      List<EventData> events,
      List<LinkData> links,
      StatusData status) {}
}
