package io.inferspan.recording;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.testing.ManualClock;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.common.InstrumentationScopeInfo;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.IdGenerator;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.SpanLimits;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A tracer of our recording or of the SDK, and the spans that it exported. */
record Recording(
    String name, Tracer tracer, ManualClock clock, InMemorySpanExporter kept, Runnable shutdown) {

  static final Resource RESOURCE = Resource.create(Attributes.of(AttributeKey.stringKey("a"), "b"));

  /** Creates recordings of one kind. */
  record Maker(String name, Function<Setup, Recording> function) {

    Recording make(Setup setup) {
      return function.apply(setup);
    }

    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Maker> makers() {
    return Stream.of(new Maker("ours", Recording::ours), new Maker("sdk", Recording::sdk));
  }

  static Stream<Recording> both(Setup setup) {
    return makers().map(maker -> maker.make(setup));
  }

  static Recording ours(Setup setup) {
    InMemorySpanExporter kept = InMemorySpanExporter.create();
    ManualClock clock = ManualClock.create();
    Intake intake = new Intake();
    SpanPipeline pipeline =
        new SpanPipeline(
            RESOURCE,
            setup.sampler,
            SpanProcessor.composite(setup.processors(kept)),
            setup.limits,
            IdGenerator.random(),
            clock,
            intake);
    InstrumentationScopeInfo scope =
        InstrumentationScopeInfo.builder("test").setVersion("1").build();
    return new Recording(
        "ours", new RecordingTracer(pipeline, scope), clock, kept, () -> intake.stopped = true);
  }

  static Recording sdk(Setup setup) {
    InMemorySpanExporter kept = InMemorySpanExporter.create();
    ManualClock clock = ManualClock.create();
    SdkTracerProvider provider =
        SdkTracerProvider.builder()
            .setClock(clock)
            .setSampler(setup.sampler)
            .setResource(RESOURCE)
            .setSpanLimits(setup.limits)
            .addSpanProcessor(SpanProcessor.composite(setup.processors(kept)))
            .build();
    return new Recording("sdk", provider.get("test", "1"), clock, kept, provider::shutdown);
  }

  Span start(String spanName, Context parent) {
    return tracer.spanBuilder(spanName).setParent(parent).startSpan();
  }

  Span root() {
    return start("s", Context.root());
  }

  List<SpanData> spans() {
    return kept.getFinishedSpanItems();
  }

  SpanData only() {
    assertThat(spans()).hasSize(1);
    return spans().get(0);
  }

  @Override
  public String toString() {
    return name;
  }

  /** Settings of a test that differ from the defaults. */
  static final class Setup {
    private Sampler sampler = Sampler.alwaysOn();
    private SpanLimits limits = SpanLimits.getDefault();
    private @Nullable SpanProcessor processor;

    static Setup defaults() {
      return new Setup();
    }

    Setup sampler(Sampler other) {
      sampler = other;
      return this;
    }

    Setup limits(SpanLimits other) {
      limits = other;
      return this;
    }

    /** Sets a processor that is called before the exporting one. */
    Setup processor(SpanProcessor other) {
      processor = other;
      return this;
    }

    private List<SpanProcessor> processors(InMemorySpanExporter kept) {
      SpanProcessor exports = SimpleSpanProcessor.create(kept);
      return processor == null ? List.of(exports) : List.of(processor, exports);
    }
  }

  private static final class Intake implements SpanIntake {
    private volatile boolean stopped;

    @Override
    public boolean isNearlyFull() {
      return false;
    }

    @Override
    public void refused() {}

    @Override
    public boolean isStopped() {
      return stopped;
    }
  }
}
