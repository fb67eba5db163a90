package io.inferspan.samples.desk.otlp;

import io.inferspan.catalog.SpanNaming;
import io.inferspan.catalog.SpanType;
import io.inferspan.semconv.Attribute;
import io.opentelemetry.api.trace.SpanKind;
import java.nio.ByteBuffer;
import java.util.List;

/** Writes spans as an exporter does; times are milliseconds after a fixed moment. */
public final class TestSpan {

  /** When the clocks of the tests begin. */
  public static final long EPOCH_NANOS = 1_790_000_000_000_000_000L;

  private static final long NANOS_PER_MILLI = 1_000_000;

  private final ProtoWriter span = new ProtoWriter();
  private final String service;
  private final String scope;

  private TestSpan(String service, String scope) {
    this.service = service;
    this.scope = scope;
  }

  /** A span of an application that we know nothing of. */
  public static TestSpan named(String name, String service) {
    return new TestSpan(service, "some.library").text(Field.NAME, name);
  }

  /** A span of the catalogue, in that generation of names. */
  public static TestSpan of(SpanType type, SpanNaming naming, String service) {
    return new TestSpan(service, type.component().scope(naming))
        .text(Field.NAME, type.name(naming))
        .kind(number(type.kind(naming)));
  }

  /** A span of the catalogue in its usual name, with a detail where it takes one. */
  public static TestSpan of(SpanType type, String detail, String service) {
    return new TestSpan(service, type.component().scope(SpanNaming.PROPOSAL))
        .text(Field.NAME, type.name(SpanNaming.PROPOSAL) + detail)
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

  private TestSpan text(int field, String value) {
    span.text(field, value);
    return this;
  }

  public TestSpan id(long trace, long id, long parent) {
    span.bytes(Field.TRACE_ID, traceId(trace));
    span.bytes(Field.SPAN_ID, spanId(id));
    if (parent != 0) {
      span.bytes(Field.PARENT_ID, spanId(parent));
    }
    return this;
  }

  /** OTLP's number: 1 is internal, 2 is server. */
  public TestSpan kind(int kind) {
    span.number(Field.KIND, kind);
    return this;
  }

  public TestSpan at(double startMillis, double endMillis) {
    span.fixed64(Field.START, EPOCH_NANOS + Math.round(startMillis * NANOS_PER_MILLI));
    span.fixed64(Field.END, EPOCH_NANOS + Math.round(endMillis * NANOS_PER_MILLI));
    return this;
  }

  public TestSpan with(Attribute<?> attribute, Object value) {
    return with(attribute.key().getKey(), value);
  }

  public TestSpan with(String key, Object value) {
    span.message(Field.ATTRIBUTES, pair(key, value));
    return this;
  }

  public TestSpan error(String message) {
    span.message(
        Field.STATUS,
        new ProtoWriter()
            .text(Field.STATUS_MESSAGE, message)
            .number(Field.STATUS_CODE, Field.STATUS_ERROR));
    return this;
  }

  public TestSpan event(String name, double atMillis) {
    span.message(
        Field.EVENTS,
        new ProtoWriter()
            .fixed64(Field.EVENT_TIME, EPOCH_NANOS + Math.round(atMillis * NANOS_PER_MILLI))
            .text(Field.EVENT_NAME, name)
            .message(Field.EVENT_ATTRIBUTES, pair("k", "v")));
    return this;
  }

  public TestSpan link(long trace, long id) {
    span.message(
        Field.LINKS,
        new ProtoWriter()
            .bytes(Field.LINK_TRACE_ID, traceId(trace))
            .bytes(Field.LINK_SPAN_ID, spanId(id)));
    return this;
  }

  static ProtoWriter pair(String key, Object value) {
    return new ProtoWriter().text(Field.KEY, key).message(Field.VALUE, any(value));
  }

  static ProtoWriter any(Object value) {
    ProtoWriter any = new ProtoWriter();
    switch (value) {
      case Boolean flag -> any.number(Field.BOOL_VALUE, flag ? 1 : 0);
      case Integer number -> any.number(Field.INT_VALUE, number);
      case Long number -> any.number(Field.INT_VALUE, number);
      case Double number -> any.fixed64(Field.DOUBLE_VALUE, Double.doubleToRawLongBits(number));
      case byte[] bytes -> any.bytes(Field.BYTES_VALUE, bytes);
      case List<?> list -> {
        ProtoWriter values = new ProtoWriter();
        list.forEach(item -> values.message(Field.LIST_VALUES, any(item)));
        any.message(Field.ARRAY_VALUE, values);
      }
      default -> any.text(Field.STRING_VALUE, value.toString());
    }
    return any;
  }

  /** The id that {@link #id} makes of the number. */
  public static String traceIdText(long trace) {
    return new TraceId(trace, trace).toString();
  }

  static byte[] traceId(long trace) {
    return ByteBuffer.allocate(16).putLong(trace).putLong(trace).array();
  }

  static byte[] spanId(long id) {
    return ByteBuffer.allocate(8).putLong(id).array();
  }

  /** An export request with these spans, each under a resource of its own. */
  public static byte[] export(TestSpan... spans) {
    return export(List.of(spans));
  }

  /** An export request with these spans, each under a resource of its own. */
  public static byte[] export(List<TestSpan> spans) {
    ProtoWriter request = new ProtoWriter();
    for (TestSpan span : spans) {
      request.message(
          Field.EXPORT_RESOURCE_SPANS,
          new ProtoWriter()
              .message(
                  Field.RESOURCE,
                  new ProtoWriter()
                      .message(Field.RESOURCE_ATTRIBUTES, pair("service.name", span.service)))
              .message(
                  Field.SCOPE_SPANS,
                  new ProtoWriter()
                      .message(Field.SCOPE, new ProtoWriter().text(Field.SCOPE_NAME, span.scope))
                      .message(Field.SPANS, span.span)));
    }
    return request.toBytes();
  }

  /** The spans as the desk keeps them. */
  public static List<Received> received(TestSpan... spans) {
    try {
      return new ExportReader(new Drops()).read(export(spans)).spans();
    } catch (MalformedException e) {
      throw new IllegalArgumentException("the test's spans are malformed", e);
    }
  }
}
