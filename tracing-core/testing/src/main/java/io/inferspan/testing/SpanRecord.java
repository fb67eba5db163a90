package io.inferspan.testing;

import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.exporter.internal.otlp.traces.TraceRequestMarshaler;
import io.opentelemetry.sdk.trace.data.SpanData;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A finished span, from an SDK in this process or received over OTLP.
 *
 * <p>Attribute values are {@link String}, {@link Long}, {@link Double}, {@link Boolean} or a {@link
 * List} of them. The rarer OTLP values map to a {@link Map} (key-value list), a base64 {@link
 * String} (bytes) and {@code ""} (no value). Maps keep the order in which the attributes arrived.
 *
 * @param traceId 32 lower-case hex digits
 * @param spanId 16 lower-case hex digits
 * @param parentSpanId the parent's span id, or {@code ""} for a root
 * @param traceFlags the W3C trace flags (1 is sampled)
 * @param traceState the W3C trace state in its header form, or {@code ""}
 * @param attributes the span's attributes in order
 * @param resource the attributes of the resource that produced the span
 */
public record SpanRecord(
    String traceId,
    String spanId,
    String parentSpanId,
    int traceFlags,
    String traceState,
    String name,
    SpanKind kind,
    long startEpochNanos,
    long endEpochNanos,
    Map<String, Object> attributes,
    List<EventRecord> events,
    List<LinkRecord> links,
    Status status,
    Scope scope,
    Map<String, Object> resource) {

  /** Copies the collections. */
  public SpanRecord {
    attributes = ordered(attributes);
    events = List.copyOf(events);
    links = List.copyOf(links);
    resource = ordered(resource);
  }

  /** An event of a span, such as a recorded exception. */
  public record EventRecord(String name, long epochNanos, Map<String, Object> attributes) {
    /** Copies the attributes, so that a record never changes. */
    public EventRecord {
      attributes = ordered(attributes);
    }
  }

  /** A link from a span to another span, often in another trace. */
  public record LinkRecord(
      String traceId, String spanId, String traceState, Map<String, Object> attributes) {
    /** Copies the attributes, so that a record never changes. */
    public LinkRecord {
      attributes = ordered(attributes);
    }
  }

  /**
   * The status of a span: a code, and a description that is {@code ""} unless the code is ERROR.
   */
  public record Status(StatusCode code, String description) {
    /** The status of a span that has none set. */
    public static final Status UNSET = new Status(StatusCode.UNSET, "");
  }

  /** The instrumentation scope of a span; a missing version is {@code ""}. */
  public record Scope(String name, String version, Map<String, Object> attributes) {
    /** Copies the attributes, so that a record never changes. */
    public Scope {
      attributes = ordered(attributes);
    }

    /** Returns a scope with only a name. */
    public static Scope named(String name) {
      return new Scope(name, "", Map.of());
    }
  }

  /** Returns the record of a finished span of the SDK. */
  public static SpanRecord of(SpanData span) {
    // Encoded and decoded, so that a span is the same whether it was exported or not.
    try {
      ByteArrayOutputStream request = new ByteArrayOutputStream();
      TraceRequestMarshaler.create(List.of(span)).writeBinaryTo(request);
      return ofOtlp(request.toByteArray()).get(0);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot encode the span " + span.getName(), e);
    }
  }

  /** Returns the records of finished spans of the SDK, in the given order. */
  public static List<SpanRecord> of(Iterable<? extends SpanData> spans) {
    List<SpanRecord> records = new ArrayList<>();
    spans.forEach(span -> records.add(of(span)));
    return Collections.unmodifiableList(records);
  }

  /**
   * Returns the spans of an OTLP export request.
   *
   * @param request an {@code ExportTraceServiceRequest} in protobuf
   * @throws IOException if it is malformed
   */
  public static List<SpanRecord> ofOtlp(byte[] request) throws IOException {
    return OtlpDecoder.decode(request);
  }

  /** Returns whether the span has no parent, local or remote. */
  public boolean isRoot() {
    return parentSpanId.isEmpty();
  }

  /** Returns whether the span ended with status ERROR. */
  public boolean isError() {
    return status.code() == StatusCode.ERROR;
  }

  /** Returns the status code; short for {@code status().code()}. */
  public StatusCode statusCode() {
    return status.code();
  }

  /** Returns the status description; short for {@code status().description()}. */
  public String statusDescription() {
    return status.description();
  }

  /** Returns the name of the instrumentation scope; short for {@code scope().name()}. */
  public String scopeName() {
    return scope.name();
  }

  /** Returns the value of an attribute, or {@code null} if the span does not have it. */
  public @Nullable Object attribute(String key) {
    return attributes.get(key);
  }

  /** Returns the resource's {@code service.name}, or {@code ""} if it has none. */
  public String serviceName() {
    return resource.getOrDefault("service.name", "").toString();
  }

  /** Returns the time between start and end. */
  public Duration duration() {
    return Duration.ofNanos(endEpochNanos - startEpochNanos);
  }

  static Map<String, Object> ordered(Map<String, ?> attributes) {
    return Collections.unmodifiableMap(new LinkedHashMap<>(attributes));
  }
}
