package io.inferspan.recording;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.common.Clock;
import io.opentelemetry.sdk.common.InstrumentationScopeInfo;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.SpanLimits;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.util.Iterator;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Ids are numbers until somebody asks for them. */
class SpanPipelineTest {

  private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";

  private static SpanContext started(Long... ids) {
    Iterator<Long> numbers = List.of(ids).iterator();
    SpanPipeline pipeline =
        new SpanPipeline(
            Resource.empty(),
            Sampler.alwaysOn(),
            SpanProcessor.composite(),
            SpanLimits.getDefault(),
            () -> TRACE,
            numbers::next,
            Clock.getDefault(),
            () -> false);
    return new RecordingTracer(pipeline, InstrumentationScopeInfo.create("test"))
        .spanBuilder("s")
        .setParent(Context.root())
        .startSpan()
        .getSpanContext();
  }

  @Test
  void id_isItsNumberInHex() {
    SpanContext context = started(0xb7ad6b7169203331L);

    assertThat(context.getTraceId()).isEqualTo(TRACE);
    assertThat(context.getSpanId()).isEqualTo("b7ad6b7169203331");
    assertThat(context.getSpanId()).isSameAs(context.getSpanId());
    assertThat(context.getSpanIdBytes()).startsWith(0xb7, 0xad);
    assertThat(context).hasToString(TRACE + "-b7ad6b7169203331");
  }

  @Test
  void zero_isNoId() {
    assertThat(started(0L, 0L, 5L).getSpanId()).isEqualTo("0000000000000005");
  }

  @Test
  void sameIds_areTheSameContext() {
    assertThat(started(5L)).isEqualTo(started(5L)).hasSameHashCodeAs(started(5L));
    assertThat(started(5L)).isNotEqualTo(started(6L));
  }
}
