package io.inferspan.testing;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.KeyValue;
import io.opentelemetry.api.common.Value;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/** Creates spans with a real SDK, for real exporters. */
public final class SdkSpans {
  private static final String REMOTE_TRACE = "0af7651916cd43dd8448eb211c80319c";
  private static final String REMOTE_SPAN = "b7ad6b7169203331";

  private SdkSpans() {}

  /** Returns a root span and a child with every kind of data. */
  public static List<SpanData> rich() {
    Collector collector = new Collector();
    try (SdkTracerProvider provider = collector.provider("gateway")) {
      Tracer tracer =
          provider.tracerBuilder("test.scope").setInstrumentationVersion("1.2.3").build();
      TraceState state = TraceState.builder().put("b", "2").put("a", "1").build();
      SpanContext caller =
          SpanContext.createFromRemoteParent(
              REMOTE_TRACE, REMOTE_SPAN, TraceFlags.getSampled(), state);
      Context remote = Context.root().with(Span.wrap(caller));
      Span parent =
          tracer
              .spanBuilder("parent")
              .setParent(remote)
              .setSpanKind(SpanKind.SERVER)
              .addLink(caller, Attributes.builder().put("link.key", "l").build())
              .startSpan();
      Span child = tracer.spanBuilder("child").setParent(remote.with(parent)).startSpan();
      decorate(child);
      child.end();
      parent.end();
    }
    return collector.spans;
  }

  private static void decorate(Span span) {
    span.setAttribute("a.string", "text ü");
    span.setAttribute("a.long", 42L);
    span.setAttribute("a.double", 4.5);
    span.setAttribute("a.boolean", true);
    span.setAttribute(AttributeKey.stringArrayKey("a.strings"), List.of("x", "y"));
    span.setAttribute(AttributeKey.longArrayKey("a.longs"), List.of(1L, 2L));
    span.setAttribute(
        AttributeKey.valueKey("a.map"),
        Value.of(
            KeyValue.of("k", Value.of("v")),
            KeyValue.of("bytes", Value.of(new byte[] {1, 2, 3})),
            KeyValue.of("list", Value.of(Value.of(1L), Value.of("two")))));
    span.addEvent("happened", Attributes.builder().put("event.key", 7).build());
    span.setStatus(StatusCode.ERROR, "it broke");
  }

  /** Returns {@code count} small root spans. */
  public static List<SpanData> many(int count) {
    Collector collector = new Collector();
    try (SdkTracerProvider provider = collector.provider("load")) {
      Tracer tracer = provider.get("load");
      for (int i = 0; i < count; i++) {
        tracer.spanBuilder("span-" + i).setAttribute("index", i).startSpan().end();
      }
    }
    return collector.spans;
  }

  private static final class Collector implements SpanExporter {
    private final List<SpanData> spans = new ArrayList<>();

    SdkTracerProvider provider(String service) {
      return SdkTracerProvider.builder()
          .setResource(Resource.builder().put("service.name", service).build())
          .addSpanProcessor(SimpleSpanProcessor.create(this))
          .build();
    }

    @Override
    public CompletableResultCode export(Collection<SpanData> finished) {
      spans.addAll(finished);
      return CompletableResultCode.ofSuccess();
    }

    @Override
    public CompletableResultCode flush() {
      return CompletableResultCode.ofSuccess();
    }

    @Override
    public CompletableResultCode shutdown() {
      return CompletableResultCode.ofSuccess();
    }
  }
}
