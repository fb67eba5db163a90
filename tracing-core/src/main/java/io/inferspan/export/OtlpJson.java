package io.inferspan.export;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.sdk.common.InstrumentationScopeInfo;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.data.EventData;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.data.SpanData;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Spans as OTLP/JSON: one {@code ExportTraceServiceRequest} on one line, which every collector with
 * a file or HTTP receiver reads.
 */
public final class OtlpJson {

  /** In the order of their numbers, which begin at 1. */
  private static final List<SpanKind> KINDS =
      List.of(
          SpanKind.INTERNAL,
          SpanKind.SERVER,
          SpanKind.CLIENT,
          SpanKind.PRODUCER,
          SpanKind.CONSUMER);

  private static final int HAS_IS_REMOTE = 0x100;
  private static final int IS_REMOTE = 0x200;

  private final StringBuilder line = new StringBuilder(4_096);
  private final JsonText json = new JsonText(line);

  private OtlpJson() {}

  /** The line for {@code spans}, without a line break. */
  public static String encode(Collection<SpanData> spans) {
    OtlpJson encoder = new OtlpJson();
    encoder.request(spans);
    return encoder.line.toString();
  }

  private void request(Collection<SpanData> spans) {
    Map<Resource, Map<InstrumentationScopeInfo, List<SpanData>>> grouped =
        spans.stream()
            .collect(
                Collectors.groupingBy(
                    SpanData::getResource,
                    LinkedHashMap::new,
                    Collectors.groupingBy(
                        SpanData::getInstrumentationScopeInfo,
                        LinkedHashMap::new,
                        Collectors.toList())));
    json.open('{').name("resourceSpans").open('[');
    grouped.forEach(this::resourceSpans);
    json.close(']').close('}');
  }

  private void resourceSpans(
      Resource resource, Map<InstrumentationScopeInfo, List<SpanData>> byScope) {
    json.open('{').name("resource").open('{');
    attributes(resource.getAttributes());
    json.close('}').name("scopeSpans").open('[');
    byScope.forEach(this::scopeSpans);
    json.close(']');
    schemaUrl(resource.getSchemaUrl());
    json.close('}');
  }

  private void scopeSpans(InstrumentationScopeInfo scope, List<SpanData> spans) {
    json.open('{').name("scope").open('{').name("name").text(scope.getName());
    String version = scope.getVersion();
    if (version != null) {
      json.name("version").text(version);
    }
    attributes(scope.getAttributes());
    json.close('}').name("spans").open('[');
    spans.forEach(this::span);
    json.close(']');
    schemaUrl(scope.getSchemaUrl());
    json.close('}');
  }

  private void schemaUrl(@Nullable String url) {
    if (url != null) {
      json.name("schemaUrl").text(url);
    }
  }

  private void span(SpanData span) {
    SpanContext parent = span.getParentSpanContext();
    json.open('{');
    ids(span.getSpanContext());
    if (parent.isValid()) {
      json.name("parentSpanId").text(parent.getSpanId());
    }
    json.name("flags").number(flags(span.getSpanContext(), parent));
    json.name("name").text(span.getName());
    json.name("kind").number(KINDS.indexOf(span.getKind()) + 1);
    json.name("startTimeUnixNano").longText(span.getStartEpochNanos());
    json.name("endTimeUnixNano").longText(span.getEndEpochNanos());
    attributes(span.getAttributes());
    dropped("droppedAttributesCount", span.getTotalAttributeCount() - span.getAttributes().size());
    events(span.getEvents());
    dropped("droppedEventsCount", span.getTotalRecordedEvents() - span.getEvents().size());
    links(span.getLinks());
    dropped("droppedLinksCount", span.getTotalRecordedLinks() - span.getLinks().size());
    status(span);
    json.close('}');
  }

  private void ids(SpanContext context) {
    json.name("traceId").text(context.getTraceId()).name("spanId").text(context.getSpanId());
    if (!context.getTraceState().isEmpty()) {
      String state =
          context.getTraceState().asMap().entrySet().stream()
              .map(entry -> entry.getKey() + "=" + entry.getValue())
              .collect(Collectors.joining(","));
      json.name("traceState").text(state);
    }
  }

  private static int flags(SpanContext context, SpanContext parent) {
    int remote = parent.isRemote() ? HAS_IS_REMOTE | IS_REMOTE : HAS_IS_REMOTE;
    return Byte.toUnsignedInt(context.getTraceFlags().asByte()) | remote;
  }

  private void dropped(String name, int count) {
    if (count > 0) {
      json.name(name).number(count);
    }
  }

  private void events(List<EventData> events) {
    if (events.isEmpty()) {
      return;
    }
    json.name("events").open('[');
    for (EventData event : events) {
      json.open('{').name("timeUnixNano").longText(event.getEpochNanos());
      json.name("name").text(event.getName());
      attributes(event.getAttributes());
      dropped(
          "droppedAttributesCount", event.getTotalAttributeCount() - event.getAttributes().size());
      json.close('}');
    }
    json.close(']');
  }

  private void links(List<LinkData> links) {
    if (links.isEmpty()) {
      return;
    }
    json.name("links").open('[');
    for (LinkData link : links) {
      json.open('{');
      ids(link.getSpanContext());
      attributes(link.getAttributes());
      dropped(
          "droppedAttributesCount", link.getTotalAttributeCount() - link.getAttributes().size());
      json.name("flags").number(flags(link.getSpanContext(), link.getSpanContext()));
      json.close('}');
    }
    json.close(']');
  }

  private void status(SpanData span) {
    StatusCode code = span.getStatus().getStatusCode();
    if (code == StatusCode.UNSET) {
      return;
    }
    json.name("status").open('{').name("code").number(code == StatusCode.OK ? 1 : 2);
    if (!span.getStatus().getDescription().isEmpty()) {
      json.name("message").text(span.getStatus().getDescription());
    }
    json.close('}');
  }

  private void attributes(Attributes attributes) {
    if (attributes.isEmpty()) {
      return;
    }
    json.name("attributes").open('[');
    attributes.forEach(this::attribute);
    json.close(']');
  }

  private void attribute(AttributeKey<?> key, Object value) {
    json.open('{').name("key").text(key.getKey()).name("value");
    value(value);
    json.close('}');
  }

  private void value(Object value) {
    json.open('{');
    if (value instanceof String text) {
      json.name("stringValue").text(text);
    } else if (value instanceof Long number) {
      json.name("intValue").longText(number);
    } else if (value instanceof Double number) {
      json.name("doubleValue").number(number);
    } else if (value instanceof Boolean flag) {
      json.name("boolValue").flag(flag);
    } else if (value instanceof List<?> list) {
      json.name("arrayValue").open('{').name("values").open('[');
      list.forEach(this::value);
      json.close(']').close('}');
    } else {
      json.name("stringValue").text(String.valueOf(value));
    }
    json.close('}');
  }
}
