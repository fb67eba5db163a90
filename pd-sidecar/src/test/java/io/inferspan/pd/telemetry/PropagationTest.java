package io.inferspan.pd.telemetry;

import static io.inferspan.pd.rig.SidecarRig.only;
import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.catalog.SpanNaming;
import io.inferspan.pd.rig.SidecarRig;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import io.inferspan.testing.engine.EngineRequest;
import io.inferspan.tracecontext.TraceContextSuite;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests which trace context engines receive for a client's. */
final class PropagationTest {
  private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
  private static final String SAMPLED = "00-" + TRACE + "-b7ad6b7169203331-01";
  private static final String UNSAMPLED = "00-" + TRACE + "-b7ad6b7169203331-00";
  private static final Duration SOON = Duration.ofSeconds(10);

  @RegisterExtension
  static final TracingExtension TRACING =
      TracingExtension.builder().sampler(Sampler.parentBased(Sampler.alwaysOn())).build();

  private static TracedPd pd;

  @BeforeAll
  static void start() {
    pd = new TracedPd(TRACING.openTelemetry());
  }

  @AfterAll
  static void stop() {
    pd.close();
  }

  @AfterEach
  void reset() {
    pd.reset();
  }

  private static void send(SidecarRig rig, String... headers) {
    String[] all =
        Stream.concat(Stream.of(TracedPd.PREFILLER, pd.prefiller().authority()), Stream.of(headers))
            .toArray(String[]::new);
    assertThat(rig.post(TracedPd.CHAT, TracedPd.STREAMED, all).statusCode()).isEqualTo(200);
  }

  private static EngineRequest prefilled() {
    return pd.prefiller().requests().getFirst();
  }

  private static EngineRequest decoded() {
    return pd.decoder().requests().getFirst();
  }

  private static List<SpanRecord> spans(SpanNaming naming) {
    return TRACING.awaitSpans(Scenario.PD_STREAMED.spans(naming), SOON);
  }

  @Test
  void requestsOfTheTestSuite_arriveWithTheRightHeaders() {
    TraceContextSuite.check(pd.rig(SpanNaming.PROPOSAL).port(), pd.decoder());
  }

  @Test
  void engines_getTheSpanOfTheirStageAsParent() {
    send(pd.rig(SpanNaming.PROPOSAL), "traceparent", SAMPLED);

    List<SpanRecord> spans = spans(SpanNaming.PROPOSAL);
    assertThat(only(spans, "llm_d.pd_proxy.request").parentSpanId()).isEqualTo("b7ad6b7169203331");
    assertThat(prefilled().headers("traceparent"))
        .containsExactly(carrying(only(spans, "llm_d.pd_proxy.prefill")));
    assertThat(decoded().headers("traceparent"))
        .containsExactly(carrying(only(spans, "llm_d.pd_proxy.decode")));
  }

  @ParameterizedTest
  @EnumSource(
      value = SpanNaming.class,
      names = {"V0_9", "CURRENT"})
  void engines_getTheSpanOfTheirCallAsParent(SpanNaming naming) {
    send(pd.rig(naming), "traceparent", SAMPLED);

    List<SpanRecord> spans = spans(naming);
    assertThat(prefilled().headers("traceparent"))
        .containsExactly(carrying(callBelow(only(spans, "prefill"), spans)));
    assertThat(decoded().headers("traceparent"))
        .containsExactly(carrying(callBelow(only(spans, "decode"), spans)));
  }

  private static String carrying(SpanRecord span) {
    return "00-" + TRACE + '-' + span.spanId() + "-01";
  }

  private static SpanRecord callBelow(SpanRecord stage, List<SpanRecord> spans) {
    return spans.stream()
        .filter(span -> span.parentSpanId().equals(stage.spanId()))
        .filter(span -> span.name().equals("HTTP POST"))
        .findFirst()
        .orElseThrow();
  }

  @ParameterizedTest
  @EnumSource(SpanNaming.class)
  void stateAndBaggage_areForwarded(SpanNaming naming) {
    send(
        pd.rig(naming),
        "TraceParent",
        SAMPLED,
        "tracestate",
        "vendor=1,other=2",
        "baggage",
        "tenant=blue");

    spans(naming);
    for (EngineRequest request : List.of(prefilled(), decoded())) {
      assertThat(request.headers("traceparent")).hasSize(1);
      assertThat(request.headers("tracestate")).containsExactly("vendor=1,other=2");
      assertThat(request.headers("baggage")).containsExactly("tenant=blue");
    }
  }

  @ParameterizedTest
  @EnumSource(SpanNaming.class)
  void unsampledTrace_isNotRecorded_butPropagated(SpanNaming naming) {
    send(pd.rig(naming), "traceparent", UNSAMPLED, "tracestate", "vendor=1");
    pd.rig(naming).get("/v1/models", "traceparent", UNSAMPLED);

    assertThat(TRACING.spans()).isEmpty();
    for (EngineRequest request :
        List.of(prefilled(), decoded(), pd.decoder().requests().getLast())) {
      assertThat(request.headers("traceparent"))
          .singleElement()
          .asString()
          .matches("00-" + TRACE + "-[0-9a-f]{16}-00");
    }
    assertThat(prefilled().headers("tracestate")).containsExactly("vendor=1");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
        "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "not a trace"
      })
  void malformedTraceparent_isReplacedByANewTrace_withoutTheState(String malformed) {
    send(pd.rig(SpanNaming.PROPOSAL), "traceparent", malformed, "tracestate", "vendor=1");

    SpanRecord request = only(spans(SpanNaming.PROPOSAL), "llm_d.pd_proxy.request");
    assertThat(request.isRoot()).isTrue();
    for (EngineRequest engine : List.of(prefilled(), decoded())) {
      assertThat(engine.headers("traceparent"))
          .singleElement()
          .asString()
          // Our own trace ids are random, which level 2 of the W3C standard marks in the flags.
          .matches("00-" + request.traceId() + "-[0-9a-f]{16}-0[13]");
      assertThat(engine.headers("tracestate")).isEmpty();
    }
  }

  @Test
  void severalTraceparents_areReplacedByOne() {
    send(pd.rig(SpanNaming.PROPOSAL), "traceparent", SAMPLED, "traceparent", UNSAMPLED);

    spans(SpanNaming.PROPOSAL);
    assertThat(prefilled().headers("traceparent")).hasSize(1);
    assertThat(decoded().headers("traceparent")).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {SAMPLED, UNSAMPLED, "not a trace"})
  void tracingOff_forwardsTheHeadersUnchanged(String traceparent) {
    try (SidecarRig off = SidecarRig.before(pd.decoder().port()).start()) {
      String[] headers = {
        "traceparent", traceparent, "tracestate", "vendor=1", "baggage", "tenant = blue ; p"
      };
      send(off, headers);
      off.get("/v1/models", headers);
    }

    for (EngineRequest request :
        List.of(prefilled(), decoded(), pd.decoder().requests().getLast())) {
      assertThat(request.headers("traceparent")).containsExactly(traceparent);
      assertThat(request.headers("tracestate")).containsExactly("vendor=1");
      assertThat(request.headers("baggage")).containsExactly("tenant = blue ; p");
    }
  }
}
