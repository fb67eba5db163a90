package io.inferspan.samples.desk.otlp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedOutputStream;
import io.inferspan.semconv.GenAiAttributes;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.ArrayValue;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ExportReaderTest {

  private final Drops drops = new Drops();
  private final ExportReader reader = new ExportReader(drops);

  private StoredSpan only(TestSpan span) throws MalformedException {
    List<Received> spans = reader.read(TestSpan.export(span)).spans();
    assertThat(spans).hasSize(1);
    return spans.getFirst().span();
  }

  private static TestSpan span() {
    return TestSpan.named("step", "shop").id(7, 8, 9).kind(2).at(1, 3.5);
  }

  @Test
  void head_isRead() throws MalformedException {
    StoredSpan span = only(span().error("no luck"));

    assertThat(span.id()).isEqualTo(8);
    assertThat(span.parentId()).isEqualTo(9);
    assertThat(span.name()).isEqualTo("step");
    assertThat(span.origin()).isEqualTo(new Origin("shop", "", "some.library"));
    assertThat(span.mark()).isEqualTo(new StoredSpan.Mark(2, true));
    assertThat(span.startNanos()).isEqualTo(TestSpan.EPOCH_NANOS + 1_000_000);
    assertThat(span.endNanos()).isEqualTo(TestSpan.EPOCH_NANOS + 3_500_000);
  }

  @Test
  void detail_isReadFromTheStoredBytes() throws MalformedException {
    SpanDetail detail =
        only(span()
                .with("text", "ä")
                .with("count", 42L)
                .with("ratio", 0.25)
                .with("flag", true)
                .with("list", List.of("a", 1L, false))
                .with("bytes", new byte[] {1, 2})
                .event("retry", 2)
                .link(70, 80)
                .error("no luck"))
            .detail();

    assertThat(detail.attributes())
        .isEqualTo(
            Map.of(
                "text",
                "ä",
                "count",
                42L,
                "ratio",
                0.25,
                "flag",
                true,
                "list",
                List.of("a", 1L, false),
                "bytes",
                "AQI="));
    assertThat(detail.events())
        .containsExactly(
            new SpanDetail.Event("retry", TestSpan.EPOCH_NANOS + 2_000_000, Map.of("k", "v")));
    assertThat(detail.links())
        .containsExactly(new SpanDetail.Link(new TraceId(70, 70), 80, Map.of()));
    assertThat(detail.statusText()).isEqualTo("no luck");
  }

  @Test
  void attribute_isFoundByOlderAndNewerKey() throws MalformedException {
    SpanDetail older = only(span().with("gen_ai.usage.prompt_tokens", 5L)).detail();
    SpanDetail newer = only(span().with("gen_ai.usage.input_tokens", 6L)).detail();

    assertThat(older.count(GenAiAttributes.USAGE_PROMPT_TOKENS)).isEqualTo(5);
    assertThat(newer.count(GenAiAttributes.USAGE_PROMPT_TOKENS)).isEqualTo(6);
  }

  @Test
  void spanWithoutIds_isRejectedAndCounted() throws MalformedException {
    ExportReader.Export export =
        reader.read(TestSpan.export(TestSpan.named("a", "s").at(0, 1), span()));

    assertThat(export.spans()).hasSize(1);
    assertThat(export.rejected()).isEqualTo(1);
    assertThat(drops.count(Drop.NO_ID)).isEqualTo(1);
  }

  @Test
  void spanThatEndsBeforeItBegins_hasDurationZero() throws MalformedException {
    StoredSpan span = only(TestSpan.named("a", "s").id(1, 2, 0).at(5, 3));

    assertThat(span.endNanos()).isEqualTo(span.startNanos());
  }

  @Test
  void resourceAfterItsSpans_isApplied() throws MalformedException, IOException {
    ResourceSpans spans =
        ExportTraceServiceRequest.parseFrom(TestSpan.export(span())).getResourceSpans(0);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    CodedOutputStream out = CodedOutputStream.newInstance(bytes);
    out.writeMessage(ResourceSpans.SCOPE_SPANS_FIELD_NUMBER, spans.getScopeSpans(0));
    out.writeMessage(ResourceSpans.RESOURCE_FIELD_NUMBER, spans.getResource());
    out.flush();
    ByteArrayOutputStream request = new ByteArrayOutputStream();
    CodedOutputStream whole = CodedOutputStream.newInstance(request);
    whole.writeByteArray(
        ExportTraceServiceRequest.RESOURCE_SPANS_FIELD_NUMBER, bytes.toByteArray());
    whole.flush();

    Origin origin = reader.read(request.toByteArray()).spans().getFirst().span().origin();

    assertThat(origin.process()).isEqualTo("shop");
  }

  @Test
  void instance_isTheFirstAvailableResourceAttribute() throws MalformedException {
    ExportTraceServiceRequest.Builder request = ExportTraceServiceRequest.newBuilder();
    ResourceSpans.Builder spans = request.addResourceSpansBuilder();
    for (String key : List.of("host.name", "service.name", "k8s.pod.name")) {
      spans
          .getResourceBuilder()
          .addAttributesBuilder()
          .setKey(key)
          .setValue(TestSpan.any("the " + key));
    }
    spans
        .addScopeSpansBuilder()
        .addSpansBuilder()
        .setTraceId(ByteString.copyFromUtf8("0123456789abcdef"))
        .setSpanId(ByteString.copyFromUtf8("01234567"));

    Origin origin = reader.read(request.build().toByteArray()).spans().getFirst().span().origin();

    assertThat(origin.process()).isEqualTo("the service.name the k8s.pod.name");
  }

  @Test
  void hugeAttribute_isTruncatedAndCounted() throws MalformedException {
    String huge = "é".repeat(100_000);

    SpanDetail detail = only(span().with("huge", huge).with("small", "s")).detail();

    assertThat(detail.attributes().get("huge")).asString().endsWith("…").hasSizeLessThan(9_000);
    assertThat(String.valueOf(detail.attributes().get("huge")).substring(0, 100))
        .isEqualTo("é".repeat(100));
    assertThat(detail.attributes().get("small")).isEqualTo("s");
    assertThat(drops.count(Drop.TEXT_CUT)).isEqualTo(1);
  }

  @Test
  void hugeList_isDroppedAndCounted() throws MalformedException {
    SpanDetail detail =
        only(span().with("list", List.of("x".repeat(20_000))).with("small", "s")).detail();

    assertThat(detail.attributes()).containsOnlyKeys("small");
    assertThat(drops.count(Drop.PART_TOO_LARGE)).isEqualTo(1);
  }

  @Test
  void spanOfManyLargeParts_isLimited() throws MalformedException {
    TestSpan span = span();
    for (int i = 0; i < 100; i++) {
      span.with("k" + i, "x".repeat(10_000));
    }

    assertThat(only(span).cost()).isLessThan(Trimmer.MAX_SPAN_BYTES + 1_000);
    assertThat(drops.count(Drop.PART_TOO_LARGE)).isGreaterThan(80);
  }

  @Test
  void longName_isKeptUpToItsLimit() throws MalformedException {
    assertThat(only(TestSpan.named("n".repeat(10_000), "s").id(1, 2, 0)).name()).hasSize(10_000);
    assertThat(only(TestSpan.named("n".repeat(50_000), "s").id(1, 2, 0)).name())
        .hasSize(Trimmer.MAX_PART_BYTES + 1);
  }

  @Test
  void nestingWithoutEnd_isMalformed() {
    AnyValue value = TestSpan.any("x");
    for (int i = 0; i < 60; i++) {
      value = AnyValue.newBuilder().setArrayValue(ArrayValue.newBuilder().addValues(value)).build();
    }
    byte[] request = TestSpan.export(span().withValue("k", value));

    assertThatThrownBy(() -> reader.read(request))
        .isInstanceOf(MalformedException.class)
        .hasMessageContaining("levels of nesting");
  }

  @Test
  void truncatedBytes_areMalformed() {
    byte[] whole = TestSpan.export(span(), span());

    assertThatThrownBy(() -> reader.read(Arrays.copyOf(whole, whole.length - 1)))
        .isInstanceOf(MalformedException.class);
  }

  @Test
  void json_isReadLikeProtobuf() throws MalformedException {
    String json =
        """
        {"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},
          "scopeSpans":[{"scope":{"name":"some.library"},"unknown":[{"x":[1]}],"spans":[{
            "traceId":"00000000000000070000000000000007","spanId":"0000000000000008",
            "parentSpanId":"0000000000000009","name":"step","kind":2,
            "startTimeUnixNano":"1790000000001000000","endTimeUnixNano":1790000000003500000,
            "attributes":[{"key":"n","value":{"intValue":"42"}},{"key":"d","value":{"doubleValue":0.5}},
              {"key":"l","value":{"arrayValue":{"values":[{"boolValue":true},{"stringValue":"a"}]}}}],
            "status":{"code":2,"message":"no luck"}}]}]}]}""";

    StoredSpan span =
        reader.readJson(json.getBytes(StandardCharsets.UTF_8)).spans().getFirst().span();

    assertThat(span.startNanos()).isEqualTo(TestSpan.EPOCH_NANOS + 1_000_000);
    assertThat(HexFormat.of().toHexDigits(span.parentId())).isEqualTo("0000000000000009");
    assertThat(span.mark()).isEqualTo(new StoredSpan.Mark(2, true));
    assertThat(span.detail().attributes())
        .isEqualTo(Map.of("n", 42L, "d", 0.5, "l", List.of(true, "a")));
  }
}
