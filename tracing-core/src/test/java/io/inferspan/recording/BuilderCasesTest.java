package io.inferspan.recording;

import static io.opentelemetry.api.common.AttributeKey.longKey;
import static io.opentelemetry.api.common.AttributeKey.stringKey;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.inferspan.recording.Recording.Maker;
import io.inferspan.recording.Recording.Setup;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.ContextKey;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SpanLimits;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import io.opentelemetry.sdk.trace.samplers.SamplingDecision;
import io.opentelemetry.sdk.trace.samplers.SamplingResult;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** The SDK's tests of span builders and tracers, run on our recording and on the SDK's. */
@ParameterizedClass
@MethodSource("io.inferspan.recording.Recording#makers")
class BuilderCasesTest {

  private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
  private static final ContextKey<String> KEY = ContextKey.named("key");

  private final Maker maker;

  BuilderCasesTest(Maker maker) {
    this.maker = maker;
  }

  private Recording recording(Setup setup) {
    return maker.make(setup);
  }

  private Recording recording() {
    return recording(Setup.defaults());
  }

  private static SpanContext caller(int flags) {
    return SpanContext.createFromRemoteParent(
        TRACE, "b7ad6b7169203331", TraceFlags.fromByte((byte) flags), TraceState.getDefault());
  }

  private static Context with(SpanContext caller) {
    return Context.root().with(Span.wrap(caller));
  }

  @Test
  void links_areThoseBeforeTheStart_withinTheLimits() {
    Recording recording =
        recording(
            Setup.defaults()
                .limits(
                    SpanLimits.builder()
                        .setMaxNumberOfLinks(2)
                        .setMaxNumberOfAttributesPerLink(1)
                        .setMaxAttributeValueLength(3)
                        .build()));
    SpanBuilder builder = recording.tracer().spanBuilder("s").setNoParent();
    builder.addLink(SpanContext.getInvalid());
    builder.addLink(caller(1));
    builder.addLink(caller(1), Attributes.of(stringKey("a"), "12345", stringKey("b"), "1"));
    builder.addLink(caller(0));
    Span span = builder.startSpan();
    builder.addLink(caller(0));
    span.end();

    SpanData data = recording.only();
    assertThat(data.getLinks())
        .extracting(LinkData::getSpanContext)
        .containsExactly(caller(1), caller(1));
    assertThat(data.getTotalRecordedLinks()).isEqualTo(3);
    LinkData second = data.getLinks().get(1);
    assertThat(second.getAttributes().asMap()).isEqualTo(Map.of(stringKey("a"), "123"));
    assertThat(second.getTotalAttributeCount()).isEqualTo(2);
  }

  @Test
  void sampler_decides_addsAttributesAndState_andCannotChangeLinks() {
    List<LinkData> seen = new ArrayList<>();
    Sampler sampler =
        sampler(
            (context, links) -> {
              seen.addAll(links);
              assertThatThrownBy(links::clear).isInstanceOf(UnsupportedOperationException.class);
              return new SamplingResult() {
                @Override
                public SamplingDecision getDecision() {
                  return SamplingDecision.RECORD_AND_SAMPLE;
                }

                @Override
                public Attributes getAttributes() {
                  return Attributes.of(stringKey("by"), "sampler", longKey("own"), 2L);
                }

                @Override
                public TraceState getUpdatedTraceState(TraceState state) {
                  return state.toBuilder().put("k", "v").build();
                }
              };
            });
    Recording recording = recording(Setup.defaults().sampler(sampler));
    Span span =
        recording
            .tracer()
            .spanBuilder("s")
            .setParent(with(caller(1)))
            .addLink(caller(1))
            .setAttribute("own", 1)
            .startSpan();
    span.end();

    assertThat(seen).hasSize(1);
    assertThat(span.getSpanContext().getTraceState().get("k")).isEqualTo("v");
    assertThat(recording.only().getAttributes().asMap())
        .isEqualTo(Map.of(stringKey("by"), "sampler", longKey("own"), 2L));
  }

  @Test
  void recordOnly_isRecordedAndNotSampled() {
    List<String> calls = new ArrayList<>();
    Recording recording =
        recording(
            Setup.defaults()
                .sampler(sampler((context, links) -> SamplingResult.recordOnly()))
                .processor(new Listener(calls, true)));
    Span span = recording.root();

    assertThat(span.isRecording()).isTrue();
    assertThat(span.getSpanContext().isSampled()).isFalse();
    span.end();
    assertThat(calls).containsExactly("start", "end");
  }

  @Test
  void drop_isNeitherRecordedNorProcessed_andHasItsParentsTrace() {
    List<String> calls = new ArrayList<>();
    Recording recording =
        recording(
            Setup.defaults().sampler(Sampler.alwaysOff()).processor(new Listener(calls, true)));
    Span span = recording.start("s", with(caller(1)));
    span.setAttribute("a", "1").end();

    assertThat(span.isRecording()).isFalse();
    assertThat(span.getSpanContext().isSampled()).isFalse();
    assertThat(span.getSpanContext().getTraceId()).isEqualTo(TRACE);
    assertThat(span.getSpanContext().getSpanId()).isNotEqualTo("b7ad6b7169203331");
    assertThat(calls).isEmpty();
    assertThat(recording.spans()).isEmpty();
  }

  @Test
  void processorThatWantsNeitherStartNorEnd_isNotCalled() {
    List<String> calls = new ArrayList<>();
    recording(Setup.defaults().processor(new Listener(calls, false))).root().end();

    assertThat(calls).isEmpty();
  }

  @Test
  void processor_mayWriteAtTheStart_andSeesTheParentContext() {
    List<String> seen = new ArrayList<>();
    Recording recording =
        recording(
            Setup.defaults()
                .processor(
                    new Listener(seen, true) {
                      @Override
                      public void onStart(Context parent, ReadWriteSpan span) {
                        span.setAttribute("from", String.valueOf(parent.get(KEY)));
                      }
                    }));
    recording.start("s", Context.root().with(KEY, "context")).end();

    assertThat(recording.only().getAttributes().get(stringKey("from"))).isEqualTo("context");
  }

  @Test
  void parent_isTheCurrentSpan_unlessItIsSetOrRefused() {
    Recording recording = recording();
    Span current = recording.root();
    Span other = recording.root();
    try (Scope ignored = current.makeCurrent()) {
      assertThat(parentOf(recording.tracer().spanBuilder("s"))).isEqualTo(current.getSpanContext());
      SpanBuilder builder = recording.tracer().spanBuilder("s");
      assertThat(parentOf(builder.setParent(Context.root().with(other))))
          .isEqualTo(other.getSpanContext());
      assertThat(parentOf(builder.setNoParent()).isValid()).isFalse();
      assertThat(parentOf(builder.setParent(Context.root().with(current))))
          .isEqualTo(current.getSpanContext());
      assertThat(parentOf(builder.setParent(Context.root())).isValid()).isFalse();
    }
    assertThat(parentOf(recording.tracer().spanBuilder("s").setParent(with(caller(1)))).isRemote())
        .isTrue();
  }

  private static SpanContext parentOf(SpanBuilder builder) {
    return ((ReadableSpan) builder.startSpan()).getParentSpanContext();
  }

  @Test
  void parentThatIsInvalid_makesARoot() {
    Span span = recording().start("s", with(SpanContext.getInvalid()));

    assertThat(span.getSpanContext().isValid()).isTrue();
    assertThat(((ReadableSpan) span).getParentSpanContext().isValid()).isFalse();
  }

  @Test
  void randomFlag_isThatOfTheTrace() {
    Recording recording = recording();

    assertThat(recording.root().getSpanContext().getTraceFlags().asHex()).isEqualTo("03");
    assertThat(flagsUnder(recording, 0x01)).isEqualTo("01");
    assertThat(flagsUnder(recording, 0x03)).isEqualTo("03");
    assertThat(flagsUnder(recording, 0x02)).isEqualTo("03");
  }

  private static String flagsUnder(Recording recording, int flags) {
    return recording.start("s", with(caller(flags))).getSpanContext().getTraceFlags().asHex();
  }

  @Test
  void samplerOfARoot_seesThatItsTraceIdIsRandom_andTheRestOfTheContext() {
    List<String> seen = new ArrayList<>();
    Sampler sampler =
        sampler(
            (context, links) -> {
              SpanContext parent = Span.fromContext(context).getSpanContext();
              seen.add(parent.isValid() + " " + parent.getTraceFlags().asHex() + context.get(KEY));
              return SamplingResult.recordAndSample();
            });
    Recording recording = recording(Setup.defaults().sampler(sampler));
    recording.root();
    recording.start("s", Context.root().with(KEY, "-value"));

    assertThat(seen).containsExactly("false 02null", "false 02-value");
  }

  @Test
  void clock_isSharedWithinTheTrace() {
    Recording recording = recording();
    Span parent = recording.root();
    recording.clock().advance(Duration.ofNanos(3));
    Span child = recording.start("child", Context.root().with(parent));
    Span grandchild = recording.start("grandchild", Context.root().with(child));

    assertThat(startOf(child) - startOf(parent)).isEqualTo(3);
    assertThat(startOf(grandchild)).isEqualTo(startOf(child));
  }

  @Test
  void childOfASpanOfTheSdk_hasItsTime() {
    Recording recording = recording();
    Recording sdk = Recording.sdk(Setup.defaults());
    sdk.clock().advance(Duration.ofHours(1));
    Span parent = sdk.root();
    sdk.clock().advance(Duration.ofNanos(3));

    if (maker.name().equals("ours")) {
      assertThat(startOf(recording.start("child", Context.root().with(parent))) - startOf(parent))
          .isEqualTo(3);
    }
  }

  private static long startOf(Span span) {
    return ((ReadableSpan) span).toSpanData().getStartEpochNanos();
  }

  @Test
  void startTimestamp_mayBeAnInstant() {
    Span span =
        recording()
            .tracer()
            .spanBuilder("s")
            .setStartTimestamp(Instant.ofEpochSecond(1, 2))
            .startSpan();

    assertThat(startOf(span)).isEqualTo(1_000_000_002L);
  }

  @Test
  void kind_isInternalUnlessSet() {
    Recording recording = recording();

    assertThat(((ReadableSpan) recording.root()).getKind()).isEqualTo(SpanKind.INTERNAL);
    Span server = recording.tracer().spanBuilder("s").setSpanKind(SpanKind.SERVER).startSpan();
    assertThat(((ReadableSpan) server).getKind()).isEqualTo(SpanKind.SERVER);
  }

  @Test
  void lastValueOfAKey_wins_withAnyType() {
    Recording recording = recording();
    SpanBuilder builder = recording.tracer().spanBuilder("s").setAttribute("k", "text");
    builder.setAttribute("k", 1).setAttribute("k", true).setAttribute(longKey("k"), 7L);
    builder.setAllAttributes(Attributes.of(stringKey("l"), "1")).startSpan().end();

    assertThat(recording.only().getAttributes().asMap())
        .isEqualTo(Map.of(longKey("k"), 7L, stringKey("l"), "1"));
  }

  @Test
  void tracerAfterTheShutdown_recordsNothing_andPassesTheParentOn() {
    Recording recording = recording();
    recording.shutdown().run();
    Span span = recording.start("s", with(caller(1)));

    assertThat(span.isRecording()).isFalse();
    assertThat(span.getSpanContext().getSpanId()).isEqualTo("b7ad6b7169203331");
    assertThat(recording.root().getSpanContext().isValid()).isFalse();
  }

  private interface Decision {
    SamplingResult on(Context context, List<LinkData> links);
  }

  private static Sampler sampler(Decision decision) {
    return new Sampler() {
      @Override
      public SamplingResult shouldSample(
          Context parent,
          String traceId,
          String name,
          SpanKind kind,
          Attributes attributes,
          List<LinkData> links) {
        return decision.on(parent, links);
      }

      @Override
      public String getDescription() {
        return "a test's";
      }
    };
  }

  private static class Listener implements SpanProcessor {
    private final List<String> calls;
    private final boolean listens;

    Listener(List<String> calls, boolean listens) {
      this.calls = calls;
      this.listens = listens;
    }

    @Override
    public void onStart(Context parent, ReadWriteSpan span) {
      calls.add("start");
    }

    @Override
    public boolean isStartRequired() {
      return listens;
    }

    @Override
    public void onEnd(ReadableSpan span) {
      calls.add("end");
    }

    @Override
    public boolean isEndRequired() {
      return listens;
    }
  }
}
