package io.inferspan.samples.desk.otlp;

import com.google.protobuf.InvalidProtocolBufferException;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.ScopeSpans;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.proto.trace.v1.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads OTLP export requests. A malformed request is rejected as a whole. */
public final class ExportReader {

  private static final int MAX_ORIGIN_BYTES = 200;
  private static final String SERVICE = "service.name";

  /** Resource attributes that identify a process of a service; the first present one is used. */
  private static final List<String> INSTANCE =
      List.of("service.instance.id", "k8s.pod.name", "host.name");

  private final Drops drops;

  /** Creates a reader that counts dropped data in {@code drops}. */
  public ExportReader(Drops drops) {
    this.drops = drops;
  }

  /**
   * The spans of an export request.
   *
   * @param spans in the order of arrival
   * @param rejected the number of spans without valid ids
   */
  public record Export(List<Received> spans, int rejected) {}

  /** Reads an {@code ExportTraceServiceRequest} in protobuf. */
  public Export read(byte[] message) throws MalformedException {
    try {
      return read(ExportTraceServiceRequest.parseFrom(message));
    } catch (InvalidProtocolBufferException e) {
      throw new MalformedException(String.valueOf(e.getMessage()));
    }
  }

  /** Reads an {@code ExportTraceServiceRequest} in JSON. */
  public Export readJson(byte[] message) throws MalformedException {
    ExportTraceServiceRequest.Builder request = ExportTraceServiceRequest.newBuilder();
    OtlpJson.merge(message, request);
    return read(request.build());
  }

  private Export read(ExportTraceServiceRequest request) {
    List<Received> spans = new ArrayList<>();
    int rejected = 0;
    for (ResourceSpans resource : request.getResourceSpansList()) {
      Map<String, Object> attributes =
          SpanDetail.attributes(resource.getResource().getAttributesList());
      for (ScopeSpans scope : resource.getScopeSpansList()) {
        Origin origin = origin(attributes, scope.getScope().getName());
        for (Span span : scope.getSpansList()) {
          Received received = received(span, origin);
          if (received == null) {
            rejected++;
          } else {
            spans.add(received);
          }
        }
      }
    }
    drops.count(Drop.NO_ID, rejected);
    return new Export(spans, rejected);
  }

  /** Returns the span; null if it has no valid ids. */
  private @Nullable Received received(Span whole, Origin origin) {
    TraceId trace = TraceId.of(whole.getTraceId());
    long id = SpanDetail.spanId(whole.getSpanId());
    if (trace.isNone() || id == 0) {
      return null;
    }
    Span span = Trimmer.trim(whole, drops);
    long start = Math.max(0, span.getStartTimeUnixNano());
    boolean error = span.getStatus().getCode() == Status.StatusCode.STATUS_CODE_ERROR;
    return new Received(
        trace,
        new StoredSpan(
            id,
            SpanDetail.spanId(span.getParentSpanId()),
            // A span whose end is before its start gets a duration of zero.
            new StoredSpan.Times(start, Math.max(start, span.getEndTimeUnixNano())),
            // Most spans share a few names.
            span.getName().intern(),
            origin,
            StoredSpan.Mark.of(span.getKindValue(), error),
            span.toByteArray()));
  }

  private static Origin origin(Map<String, Object> attributes, String scope) {
    String instance =
        INSTANCE.stream()
            .map(key -> shortText(attributes.get(key)))
            .filter(text -> !text.isEmpty())
            .findFirst()
            .orElse("");
    String service = shortText(attributes.get(SERVICE));
    return new Origin(
        service.isEmpty() ? Origin.UNKNOWN.service() : service, instance, shortText(scope));
  }

  private static String shortText(@Nullable Object value) {
    return value == null ? "" : Trimmer.cut(value.toString(), MAX_ORIGIN_BYTES).intern();
  }
}
