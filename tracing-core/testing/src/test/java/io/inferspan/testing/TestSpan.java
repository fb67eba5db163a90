package io.inferspan.testing;

import io.inferspan.testing.SpanRecord.Scope;
import io.inferspan.testing.SpanRecord.Status;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A span built by hand, for trees that no SDK creates. */
public final class TestSpan {
  private final String name;
  private final String id;
  private final String parent;
  private final Map<String, Object> attributes = new LinkedHashMap<>();
  private String trace = "t1";
  private String service = "";
  private SpanKind kind = SpanKind.INTERNAL;
  private Status status = Status.UNSET;
  private long startNanos;
  private long durationNanos = 1_000_000;

  private TestSpan(String name, String id, String parent) {
    this.name = name;
    this.id = id;
    this.parent = parent;
  }

  /** Returns a root span whose id is its name. */
  public static TestSpan root(String name) {
    return new TestSpan(name, name, "");
  }

  /** Returns a span whose id is its name, as a child of the span with the given name. */
  public static TestSpan child(String name, String parent) {
    return new TestSpan(name, name, parent);
  }

  public TestSpan trace(String traceId) {
    trace = traceId;
    return this;
  }

  public TestSpan service(String serviceName) {
    service = serviceName;
    return this;
  }

  public TestSpan kind(SpanKind spanKind) {
    kind = spanKind;
    return this;
  }

  public TestSpan with(String key, Object value) {
    attributes.put(key, value);
    return this;
  }

  public TestSpan error(String description) {
    status = new Status(StatusCode.ERROR, description);
    return this;
  }

  public TestSpan at(double startMillis, double durationMillis) {
    startNanos = Math.round(startMillis * 1e6);
    durationNanos = Math.round(durationMillis * 1e6);
    return this;
  }

  public SpanRecord build() {
    return new SpanRecord(
        trace,
        id,
        parent,
        1,
        "",
        name,
        kind,
        startNanos,
        startNanos + durationNanos,
        attributes,
        List.of(),
        List.of(),
        status,
        Scope.named("test"),
        service.isEmpty() ? Map.of() : Map.of("service.name", service));
  }

  public static List<SpanRecord> list(TestSpan... spans) {
    return List.of(spans).stream().map(TestSpan::build).toList();
  }
}
