package io.inferspan.samples.desk.otlp;

import com.google.protobuf.ByteString;
import io.inferspan.catalog.SpanNaming;
import io.inferspan.catalog.SpanType;
import io.inferspan.semconv.Attribute;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.ScopeSpans;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.proto.trace.v1.Status;
import java.nio.ByteBuffer;
import java.util.List;

/** Writes spans as an exporter does; times are milliseconds after a fixed moment. */
public final class TestSpan {

  /** The start of the tests' clock. */
  public static final long EPOCH_NANOS = 1_790_000_000_000_000_000L;

  private static final long NANOS_PER_MILLI = 1_000_000;

  private final Span.Builder span = Span.newBuilder();
  private final String service;
  private final String scope;

  private TestSpan(String service, String scope) {
    this.service = service;
    this.scope = scope;
  }

  /** Creates a span that is not in the catalogue. */
  public static TestSpan named(String name, String service) {
    return new TestSpan(service, "some.library").name(name);
  }

  /** Creates a span of the catalogue, in this naming scheme. */
  public static TestSpan of(SpanType type, SpanNaming naming, String service) {
    return new TestSpan(service, type.component().scope(naming))
        .name(type.name(naming))
        .kind(number(type.kind(naming)));
  }

  /** Creates a span of the catalogue with its default name, and a suffix if its type has one. */
  public static TestSpan of(SpanType type, String detail, String service) {
    return new TestSpan(service, type.component().scope(SpanNaming.PROPOSAL))
        .name(type.name(SpanNaming.PROPOSAL) + detail)
        .kind(number(type.kind(SpanNaming.PROPOSAL)));
  }

  private static int number(SpanKind kind) {
    return switch (kind) {
      case INTERNAL -> 1;
      case SERVER -> 2;
      case CLIENT -> 3;
      case PRODUCER -> 4;
      case CONSUMER -> 5;
    };
  }

  private TestSpan name(String name) {
    span.setName(name);
    return this;
  }

  public TestSpan id(long trace, long id, long parent) {
    span.setTraceId(traceId(trace)).setSpanId(spanId(id));
    if (parent != 0) {
      span.setParentSpanId(spanId(parent));
    }
    return this;
  }

  /** Sets the kind as OTLP's number: 1 is internal, 2 is server. */
  public TestSpan kind(int kind) {
    span.setKindValue(kind);
    return this;
  }

  public TestSpan at(double startMillis, double endMillis) {
    span.setStartTimeUnixNano(nanos(startMillis)).setEndTimeUnixNano(nanos(endMillis));
    return this;
  }

  private static long nanos(double millis) {
    return EPOCH_NANOS + Math.round(millis * NANOS_PER_MILLI);
  }

  public TestSpan with(Attribute<?> attribute, Object value) {
    return with(attribute.key().getKey(), value);
  }

  public TestSpan with(String key, Object value) {
    span.addAttributes(pair(key, any(value)));
    return this;
  }

  /** Adds an attribute with an encoded value. */
  TestSpan withValue(String key, AnyValue value) {
    span.addAttributes(pair(key, value));
    return this;
  }

  public TestSpan error(String message) {
    span.getStatusBuilder().setMessage(message).setCode(Status.StatusCode.STATUS_CODE_ERROR);
    return this;
  }

  public TestSpan event(String name, double atMillis) {
    span.addEventsBuilder()
        .setTimeUnixNano(nanos(atMillis))
        .setName(name)
        .addAttributes(pair("k", any("v")));
    return this;
  }

  public TestSpan link(long trace, long id) {
    span.addLinksBuilder().setTraceId(traceId(trace)).setSpanId(spanId(id));
    return this;
  }

  /**
   * Adds a link of a step to a member with this number of prompt tokens; 0 for one that decodes.
   */
  public TestSpan member(long trace, long id, long promptTokens) {
    link(trace, id);
    if (promptTokens > 0) {
      span.getLinksBuilder(span.getLinksCount() - 1)
          .addAttributes(pair("llm_d.engine.tokens", any(promptTokens)));
    }
    return this;
  }

  private static KeyValue pair(String key, AnyValue value) {
    return KeyValue.newBuilder().setKey(key).setValue(value).build();
  }

  static AnyValue any(Object value) {
    AnyValue.Builder any = AnyValue.newBuilder();
    switch (value) {
      case Boolean flag -> any.setBoolValue(flag);
      case Integer number -> any.setIntValue(number);
      case Long number -> any.setIntValue(number);
      case Double number -> any.setDoubleValue(number);
      case byte[] bytes -> any.setBytesValue(ByteString.copyFrom(bytes));
      case List<?> list -> list.forEach(item -> any.getArrayValueBuilder().addValues(any(item)));
      default -> any.setStringValue(value.toString());
    }
    return any.build();
  }

  /** Returns the id that {@link #id} derives from the number. */
  public static String traceIdText(long trace) {
    return new TraceId(trace, trace).toString();
  }

  private static ByteString traceId(long trace) {
    return ByteString.copyFrom(ByteBuffer.allocate(16).putLong(trace).putLong(trace).flip());
  }

  private static ByteString spanId(long id) {
    return ByteString.copyFrom(ByteBuffer.allocate(8).putLong(id).flip());
  }

  /** Returns an export request with these spans, each with its own resource. */
  public static byte[] export(TestSpan... spans) {
    return export(List.of(spans));
  }

  /** Returns an export request with these spans, each with its own resource. */
  public static byte[] export(List<TestSpan> spans) {
    ExportTraceServiceRequest.Builder request = ExportTraceServiceRequest.newBuilder();
    for (TestSpan span : spans) {
      ResourceSpans.Builder resource = request.addResourceSpansBuilder();
      resource.getResourceBuilder().addAttributes(pair("service.name", any(span.service)));
      ScopeSpans.Builder scope = resource.addScopeSpansBuilder().addSpans(span.span);
      scope.getScopeBuilder().setName(span.scope);
    }
    return request.build().toByteArray();
  }

  /** Returns the spans as the desk receives them. */
  public static List<Received> received(TestSpan... spans) {
    try {
      return new ExportReader(new Drops()).read(export(spans)).spans();
    } catch (MalformedException e) {
      throw new IllegalArgumentException("the test's spans are malformed", e);
    }
  }
}
