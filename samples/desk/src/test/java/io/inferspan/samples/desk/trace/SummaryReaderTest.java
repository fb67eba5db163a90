package io.inferspan.samples.desk.trace;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.catalog.EppSpans;
import io.inferspan.catalog.GatewaySpans;
import io.inferspan.catalog.KernelSpans;
import io.inferspan.catalog.PdSpans;
import io.inferspan.catalog.SpanNaming;
import io.inferspan.samples.desk.otlp.TestSpan;
import io.inferspan.samples.desk.store.Decision;
import io.inferspan.samples.desk.store.Status;
import io.inferspan.samples.desk.store.Summary;
import io.inferspan.semconv.CommonAttributes;
import io.inferspan.semconv.KernelAttributes;
import io.inferspan.semconv.PdAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class SummaryReaderTest {

  @ParameterizedTest
  @EnumSource
  void disaggregatedRequest_isSummarised(SpanNaming naming) {
    Summary summary = Traces.summary(Traces.disaggregated(naming), true);

    assertThat(summary.head().name()).isEqualTo(GatewaySpans.REQUEST.name(naming));
    assertThat(summary.head().services())
        .containsExactly("llm-gateway", "llm-d-pd-proxy", "vllm-prefill-pod", "vllm-decode-pod");
    assertThat(summary.head().durationMillis()).isEqualTo(250);
    assertThat(summary.outcome())
        .isEqualTo(new Summary.Outcome(Status.OK, false, null, 200L, 70.0, 24L));
    assertThat(summary.model()).isEqualTo("tiny");
    assertThat(summary.requestId()).isEqualTo("req-1");
    assertThat(summary.kvHitRatio()).isEqualTo(0.25);
    assertThat(summary.decision())
        .isEqualTo(
            new Decision(
                "pd",
                "prefill_decode",
                "non_cached_bytes_reach_threshold",
                new Decision.Inputs(1024L, 1539L, null),
                "vllm-prefill-pod at 10.0.0.1:8000",
                "vllm-decode-pod at 10.0.0.2:8000"));
    assertThat(summary.counts()).isEqualTo(new Summary.Counts(9, 0, 0, 0));
    assertThat(summary.why())
        .isEqualTo(
            new Summary.Why(
                "first token after 70.0 ms: 30.0 ms prefill on vllm-prefill-pod;"
                    + " then 23 tokens, 7.8 ms apart",
                7));
  }

  @ParameterizedTest
  @EnumSource
  void pdTimeline_hasBothStages(SpanNaming naming) {
    PdTimeline pd = Objects.requireNonNull(Traces.view(Traces.disaggregated(naming)).pd());

    assertThat(pd.prefill())
        .isEqualTo(new PdTimeline.Stage(at(7), at(50), "vllm-prefill-pod at 10.0.0.1:8000"));
    assertThat(pd.decode())
        .isEqualTo(new PdTimeline.Stage(at(51), at(248), "vllm-decode-pod at 10.0.0.2:8000"));
    assertThat(pd.transferNanos()).isEqualTo(8_000_000);
    assertThat(pd.firstTokenNanos()).isEqualTo(at(70));
    assertThat(pd.overheadNanos()).isEqualTo(1_000_000);
  }

  @ParameterizedTest
  @ValueSource(strings = {"localhost:8001", "127.0.0.1:8001", "[::1]:8001"})
  void podOnLoopback_isNamedWithoutItsAddress(String target) {
    List<TestSpan> spans = new ArrayList<>(Traces.disaggregated(SpanNaming.PROPOSAL));
    spans.set(
        7,
        TestSpan.of(PdSpans.DECODE, SpanNaming.PROPOSAL, "llm-d-pd-proxy")
            .id(Traces.TRACE, 8, 5)
            .at(51, 248)
            .with(PdAttributes.DECODE_TARGET, target));

    assertThat(decodePod(spans)).isEqualTo("vllm-decode-pod");
    // Without the engine's span, nothing else is known.
    assertThat(decodePod(spans.subList(0, 8))).isEqualTo(target);
  }

  private static @Nullable String decodePod(List<TestSpan> spans) {
    return Objects.requireNonNull(Traces.summary(spans, true).decision()).decodePod();
  }

  private static long at(long millis) {
    return TestSpan.EPOCH_NANOS + millis * 1_000_000;
  }

  @ParameterizedTest
  @ValueSource(longs = {400, 404, 429, 500})
  void errorStatusOfTheGateway_isAnError_evenUnderARootWithoutStatus(long code) {
    Summary summary =
        Traces.summary(
            List.of(
                TestSpan.named("http post", "shop").id(1, 1, 0).at(0, 12),
                TestSpan.of(GatewaySpans.REQUEST, "", "llm-gateway")
                    .id(1, 2, 1)
                    .at(1, 11)
                    .with(CommonAttributes.HTTP_RESPONSE_STATUS_CODE, code)),
            true);

    assertThat(summary.outcome().status()).isEqualTo(Status.ERROR);
    assertThat(summary.outcome().httpStatus()).isEqualTo(code);
    assertThat(summary.why().sentence())
        .isEqualTo("http post on shop answered with HTTP %d after 12.0 ms", code);
  }

  @Test
  void openRequest_hasTheNameOfItsMissingRoot() {
    List<TestSpan> spans = Traces.disaggregated(SpanNaming.PROPOSAL).subList(1, 3);

    assertThat(Traces.summary(spans, false).head().name()).isEqualTo("gateway.request");
  }

  @Test
  void pickerStartup_isNotARequest() {
    TestSpan startup =
        TestSpan.of(EppSpans.STARTUP, SpanNaming.PROPOSAL, "llm-gateway").id(1, 1, 0).at(0, 1);

    assertThat(new SummaryReader().summarise(Traces.spans(List.of(startup), true))).isNull();
  }

  @Test
  void longestPartOfTheTimeToFirstToken_isNamed() {
    Summary summary =
        Traces.summary(List.of(Traces.engine("vllm", 2, 0, 150, 10).at(0, 200)), true);

    assertThat(summary.why())
        .isEqualTo(
            new Summary.Why(
                "first token after 160 ms: 150 ms queued on vllm; then 23 tokens, 1.7 ms apart",
                2));
  }

  @Test
  void killedGateway_leavesABrokenTrace() {
    List<TestSpan> spans = new ArrayList<>(Traces.disaggregated(SpanNaming.PROPOSAL));
    spans.remove(0);

    assertThat(Traces.summary(spans, false).outcome().status()).isEqualTo(Status.OPEN);
    Summary summary = Traces.summary(spans, true);
    assertThat(summary.outcome().status()).isEqualTo(Status.BROKEN);
    assertThat(summary.why().sentence())
        .isEqualTo(
            "incomplete: the parent gateway.request of llm_d.epp.scorer.prefix_cache on llm-gateway"
                + " never arrived (process died or still running); 2 more spans have no parent");
  }

  @Test
  void killedProxy_leavesABrokenTraceWithItsRoot() {
    List<TestSpan> spans = new ArrayList<>(Traces.disaggregated(SpanNaming.PROPOSAL));
    spans.subList(4, 6).clear();

    Summary summary = Traces.summary(spans, true);

    assertThat(summary.outcome().status()).isEqualTo(Status.BROKEN);
    assertThat(summary.head().name()).isEqualTo("gateway.request");
  }

  @Test
  void gatewayWhoseCallerDoesNotExport_isARoot() {
    Summary summary =
        Traces.summary(
            List.of(TestSpan.of(GatewaySpans.REQUEST, "", "g").id(1, 1, 99).at(0, 5)), true);

    assertThat(summary.outcome().status()).isEqualTo(Status.OK);
  }

  @Test
  void proxyWithoutItsGateway_isBroken() {
    Summary summary =
        Traces.summary(
            List.of(TestSpan.of(PdSpans.REQUEST, SpanNaming.CURRENT, "p").id(1, 1, 99).at(0, 5)),
            true);

    assertThat(summary.outcome().status()).isEqualTo(Status.BROKEN);
  }

  @Test
  void foreignServer_isARoot_andItsTimeIsExplained() {
    Summary summary =
        Traces.summary(
            List.of(
                TestSpan.named("request", "shop").id(1, 1, 99).kind(2).at(0, 50),
                TestSpan.named("SELECT", "shop").id(1, 2, 1).kind(3).at(5, 45)),
            true);

    assertThat(summary.outcome().status()).isEqualTo(Status.OK);
    assertThat(summary.decision()).isNull();
    assertThat(summary.why()).isEqualTo(new Summary.Why("40.0 ms of 50.0 ms in SELECT on shop", 2));
  }

  @Test
  void coldStart_namesThePhaseThatTookMost_byItsOwnTime() {
    Summary summary =
        Traces.summary(
            List.of(
                TestSpan.of(KernelSpans.COLD_START, "", "agent").id(1, 1, 0).at(0, 100),
                coldStartPart("listen", 2).at(0, 95),
                coldStartPart("imports", 3).at(5, 90).with(KernelAttributes.OWN_MS, 20.0),
                coldStartPart("weights", 4).at(10, 60).with(KernelAttributes.OWN_MS, 50.0)),
            true);

    assertThat(summary.why())
        .isEqualTo(
            new Summary.Why(
                "50.0 ms of 100 ms in llm_d.model_server.cold_start.weights on agent", 4));
  }

  private static TestSpan coldStartPart(String name, long id) {
    return TestSpan.of(KernelSpans.COLD_START_PART, name, "agent").id(1, id, 1);
  }

  @Test
  void failure_isExplainedByTheSpanThatFailedFirst() {
    Summary summary =
        Traces.summary(
            List.of(
                TestSpan.of(GatewaySpans.REQUEST, "", "llm-gateway")
                    .id(1, 1, 0)
                    .at(0, 50)
                    .error("answered with an error status")
                    .with(CommonAttributes.ERROR_TYPE, "502"),
                TestSpan.of(PdSpans.PREFILL, "", "llm-d-pd-proxy")
                    .id(1, 2, 1)
                    .at(1, 20)
                    .error("no prefill")
                    .with(CommonAttributes.ERROR_TYPE, "500")),
            true);

    assertThat(summary.outcome().status()).isEqualTo(Status.ERROR);
    assertThat(summary.outcome().errorType()).isEqualTo("502");
    assertThat(summary.counts().errors()).isEqualTo(2);
    assertThat(summary.why())
        .isEqualTo(
            new Summary.Why(
                "failed in llm_d.pd_proxy.prefill on llm-d-pd-proxy after 20.0 ms: 500 (no prefill)",
                2));
  }

  @ParameterizedTest
  @CsvSource({
    "io.netty.channel.unix.Errors$NativeIoException, NativeIoException",
    "io.vertx.core.http.HttpClosedException, HttpClosedException",
    "connection_reset, connection_reset",
    "inference.networking.k8s.io, inference.networking.k8s.io"
  })
  void errorTypeOfAJavaClass_isShownAsSimpleName(String type, String shown) {
    Summary summary =
        Traces.summary(
            List.of(
                TestSpan.of(GatewaySpans.REQUEST, "", "llm-gateway")
                    .id(1, 1, 0)
                    .at(0, 20)
                    .error("the call failed")
                    .with(CommonAttributes.ERROR_TYPE, type)),
            true);

    assertThat(summary.why().sentence())
        .isEqualTo(
            "failed in gateway.request on llm-gateway after 20.0 ms: "
                + shown
                + " (the call failed)");
  }

  @Test
  void kernelEvents_areCounted_andDoNotReduceTheSpansOwnTime() {
    List<TestSpan> spans = new ArrayList<>(Traces.disaggregated(SpanNaming.PROPOSAL));
    spans.add(
        TestSpan.of(KernelSpans.CUDA, "launch (folded)", "vllm-decode-pod")
            .id(1, 20, 9)
            .at(60, 240)
            .with(KernelAttributes.COUNT, 512L)
            .with(KernelAttributes.DURATION_SUM_NS, 3_000_000L)
            .with(KernelAttributes.DROPPED, 7L));
    spans.add(
        TestSpan.of(KernelSpans.SCHED, "offcpu", "vllm-decode-pod")
            .id(1, 21, 9)
            .at(60, 240)
            .with(KernelAttributes.DROPPED, 7L));

    Summary summary = Traces.summary(spans, true);
    Flame flame = Objects.requireNonNull(Traces.view(spans).flame());

    assertThat(summary.counts()).isEqualTo(new Summary.Counts(11, 0, 7, 512));
    assertThat(summary.why())
        .extracting(Summary.Why::sentence)
        .asString()
        .startsWith("first token after 70.0 ms");
    assertThat(flame.total()).isEqualTo(183_000_000);
    Flame engine = flame.children().getFirst();
    assertThat(engine.name()).isEqualTo("llm_request");
    assertThat(engine.children()).extracting(Flame::name).containsExactly("cuda", "sched");
    assertThat(engine.children().getFirst().children())
        .extracting(Flame::name)
        .containsExactly("cuda.launch");
  }

  @Test
  void cycleOfParents_isShown() {
    List<TestSpan> circle =
        List.of(
            TestSpan.named("a", "s").id(1, 1, 2).at(0, 1),
            TestSpan.named("b", "s").id(1, 2, 3).at(0, 1),
            TestSpan.named("c", "s").id(1, 3, 1).at(0, 1),
            TestSpan.named("self", "s").id(1, 4, 4).at(0, 1));

    TraceView view = Traces.view(circle);

    assertThat(view.tree().ordered()).hasSize(4);
    assertThat(view.summary().outcome().status()).isEqualTo(Status.BROKEN);
  }

  @Test
  void deepTrace_doesNotOverflowTheStack() {
    List<TestSpan> chain = new ArrayList<>();
    for (long id = 1; id <= 20_000; id++) {
      chain.add(TestSpan.named("n", "s").id(1, id, id - 1).at(0, (double) (20_000 - id)));
    }

    assertThat(Traces.view(chain).tree().ordered()).hasSize(20_000);
  }

  @Test
  void duplicateSpan_countsOnce() {
    assertThat(
            Traces.summary(
                    List.of(
                        TestSpan.named("a", "s").id(1, 1, 0).at(0, 1),
                        TestSpan.named("a", "s").id(1, 1, 0).at(0, 2)),
                    true)
                .head()
                .durationMillis())
        .isEqualTo(2);
  }
}
