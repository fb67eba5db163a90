package io.inferspan.testing.otlp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.inferspan.testing.SdkSpans;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.SpanRecord.Scope;
import io.inferspan.testing.TestSpan;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.sdk.trace.data.SpanData;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class SpanRecordTest {
  private final List<SpanData> sdkSpans = SdkSpans.rich();
  private final SpanRecord child = SpanRecord.of(sdkSpans.get(0));
  private final SpanRecord parent = SpanRecord.of(sdkSpans.get(1));

  @Test
  void attributes_haveTheirOwnTypes() {
    assertThat(child.attributes())
        .containsEntry("a.string", "text ü")
        .containsEntry("a.long", 42L)
        .containsEntry("a.double", 4.5)
        .containsEntry("a.boolean", true)
        .containsEntry("a.strings", List.of("x", "y"))
        .containsEntry("a.longs", List.of(1L, 2L))
        .containsEntry("a.map", Map.of("k", "v", "bytes", "AQID", "list", List.of(1L, "two")));
    assertThat(child.attribute("a.long")).isEqualTo(42L);
    assertThat(child.attribute("none")).isNull();
  }

  @Test
  void identity_isCopied() {
    assertThat(child.name()).isEqualTo("child");
    assertThat(child.parentSpanId()).isEqualTo(parent.spanId()).hasSize(16);
    assertThat(child.traceId()).isEqualTo(parent.traceId()).hasSize(32);
    assertThat(child.traceFlags()).isEqualTo(1);
    assertThat(child.traceState()).isEqualTo("a=1,b=2");
    assertThat(child.kind()).isEqualTo(SpanKind.INTERNAL);
    assertThat(parent.kind()).isEqualTo(SpanKind.SERVER);
    assertThat(parent.isRoot()).as("its caller is elsewhere").isFalse();
    assertThat(SpanRecord.of(SdkSpans.many(1)).get(0).isRoot()).isTrue();
  }

  @Test
  void allOtherFields_areCopied() {
    assertThat(child.statusCode()).isEqualTo(StatusCode.ERROR);
    assertThat(child.statusDescription()).isEqualTo("it broke");
    assertThat(child.isError()).isTrue();
    assertThat(parent.isError()).isFalse();
    assertThat(child.scope()).isEqualTo(new Scope("test.scope", "1.2.3", Map.of()));
    assertThat(child.serviceName()).isEqualTo("gateway");
    assertThat(child.events()).hasSize(1);
    assertThat(child.events().get(0).attributes()).isEqualTo(Map.of("event.key", 7L));
    assertThat(parent.links()).hasSize(1);
    assertThat(parent.links().get(0).attributes()).isEqualTo(Map.of("link.key", "l"));
    assertThat(parent.duration()).isGreaterThanOrEqualTo(child.duration());
    assertThat(TestSpan.root("r").at(5, 2.5).build().duration())
        .isEqualTo(Duration.ofNanos(2_500_000));
  }

  @Test
  void decoder_throwsOnlyItsOwnExceptionForGarbage() {
    Random random = new Random(17);
    int garbled = 0;
    for (int i = 0; i < 20_000; i++) {
      byte[] bytes = new byte[random.nextInt(64)];
      random.nextBytes(bytes);
      try {
        assertThat(SpanRecord.ofOtlp(bytes)).isNotNull();
      } catch (IOException expected) {
        garbled++;
      }
    }
    assertThat(garbled).isGreaterThan(10_000);
  }

  @Test
  void record_isImmutable() {
    assertThatThrownBy(() -> child.attributes().put("k", "v"))
        .isInstanceOf(UnsupportedOperationException.class);
    assertThatThrownBy(() -> child.events().clear())
        .isInstanceOf(UnsupportedOperationException.class);
  }
}
