package io.inferspan.samples.desk.page;

import com.google.protobuf.ByteString;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.InstrumentationScope;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.resource.v1.Resource;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.ScopeSpans;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.proto.trace.v1.Status;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

/** A trace to send to the desk: spans of several services, with chosen times. */
final class SentTrace {

  private static final HttpClient CLIENT = HttpClient.newHttpClient();
  private static final double NANOS_PER_MS = 1e6;

  private final ByteString traceId = bytes(16);
  private final long startNanos;
  private final Map<String, ScopeSpans.Builder> services = new LinkedHashMap<>();

  SentTrace() {
    this(System.currentTimeMillis());
  }

  private SentTrace(long epochMs) {
    startNanos = Math.round(epochMs * NANOS_PER_MS);
  }

  /** Creates a trace that began this number of milliseconds ago. */
  static SentTrace ago(long millis) {
    return at(System.currentTimeMillis() - millis);
  }

  /** Creates a trace that began at this time. */
  static SentTrace at(long epochMs) {
    return new SentTrace(epochMs);
  }

  String id() {
    return HexFormat.of().formatHex(traceId.toByteArray());
  }

  /** Adds a span that begins {@code atMs} after the trace; returns its builder. */
  Span.Builder span(String service, String name, ByteString parent, double atMs, double tookMs) {
    long begin = startNanos + Math.round(atMs * NANOS_PER_MS);
    return services
        .computeIfAbsent(service, SentTrace::spansOf)
        .addSpansBuilder()
        .setTraceId(traceId)
        .setSpanId(bytes(8))
        .setParentSpanId(parent)
        .setName(name)
        .setKind(Span.SpanKind.SPAN_KIND_INTERNAL)
        .setStartTimeUnixNano(begin)
        .setEndTimeUnixNano(begin + Math.round(tookMs * NANOS_PER_MS));
  }

  static Span.Builder with(Span.Builder span, String key, Object value) {
    AnyValue.Builder any = AnyValue.newBuilder();
    switch (value) {
      case Long number -> any.setIntValue(number);
      case Double number -> any.setDoubleValue(number);
      case Boolean truth -> any.setBoolValue(truth);
      default -> any.setStringValue(value.toString());
    }
    return span.addAttributes(KeyValue.newBuilder().setKey(key).setValue(any));
  }

  static Span.Builder failed(Span.Builder span, String why) {
    return span.setStatus(
        Status.newBuilder().setCode(Status.StatusCode.STATUS_CODE_ERROR).setMessage(why));
  }

  /** Sends the whole trace at once; returns when the desk has stored it. */
  SentTrace to(URI otlp) {
    ExportTraceServiceRequest.Builder request = ExportTraceServiceRequest.newBuilder();
    services.forEach(
        (service, spans) ->
            request.addResourceSpans(
                ResourceSpans.newBuilder().setResource(resource(service)).addScopeSpans(spans)));
    try {
      HttpResponse<String> answer =
          CLIENT.send(
              HttpRequest.newBuilder(otlp)
                  .header("Content-Type", "application/x-protobuf")
                  .POST(HttpRequest.BodyPublishers.ofByteArray(request.build().toByteArray()))
                  .build(),
              HttpResponse.BodyHandlers.ofString());
      if (answer.statusCode() != 200) {
        throw new AssertionError("the desk answered " + answer.statusCode() + ": " + answer.body());
      }
    } catch (IOException e) {
      throw new AssertionError("the desk did not accept the spans", e);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    return this;
  }

  private static ScopeSpans.Builder spansOf(String service) {
    String scope = service.equals(Requests.AGENT) ? "inferspan.ebpf" : service;
    return ScopeSpans.newBuilder().setScope(InstrumentationScope.newBuilder().setName(scope));
  }

  private static Resource resource(String service) {
    return Resource.newBuilder()
        .addAttributes(
            KeyValue.newBuilder()
                .setKey("service.name")
                .setValue(AnyValue.newBuilder().setStringValue(service)))
        .build();
  }

  private static ByteString bytes(int number) {
    byte[] random = new byte[number];
    ThreadLocalRandom.current().nextBytes(random);
    return ByteString.copyFrom(random);
  }
}
