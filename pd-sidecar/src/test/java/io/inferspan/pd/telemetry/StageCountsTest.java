package io.inferspan.pd.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.pd.rig.FreePort;
import io.inferspan.pd.rig.RawServer;
import io.inferspan.pd.rig.SidecarRig;
import io.inferspan.pd.rig.WireTest;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests that an ended stage has exactly one duration, and no failure without one. */
@SuppressWarnings("StringConcatToTextBlock") // lines end in CR LF
final class StageCountsTest extends WireTest {
  private static final String ERROR = "HTTP/1.1 500 Oops\r\ncontent-length: 2\r\n\r\nno";
  private static final String CUT_ERROR = "HTTP/1.1 500 Oops\r\ncontent-length: 9\r\n\r\nno";
  private static final String CUT = "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nno";

  private Scrape scrape;

  @BeforeEach
  void start() {
    scrape = closing(new Scrape(FreePort.next()));
  }

  private SidecarRig sidecar(int decoderPort, String... flags) {
    SidecarRig.Builder builder = SidecarRig.before(decoderPort).with(flags);
    return closing(builder.with("--metrics-port=" + scrape.port()).start());
  }

  /** Starts an engine that answers one request per connection and then closes it. */
  private RawServer saying(String answer) {
    return engine(
        (wire, server) -> {
          server.request(wire);
          wire.send(answer);
        });
  }

  private static void post(SidecarRig sidecar, String path, String... headers) {
    try {
      sidecar.post(path, "{\"messages\":[],\"max_tokens\":9}", headers);
    } catch (java.io.UncheckedIOException _) {
      // The response was truncated, as some of these are.
    }
  }

  static Stream<Arguments> answers() {
    return Stream.of(
        Arguments.of(ok("{}"), 0),
        Arguments.of(ERROR, 1),
        Arguments.of(CUT_ERROR, 1),
        Arguments.of(CUT, 1),
        Arguments.of("", 1));
  }

  @ParameterizedTest
  @MethodSource("answers")
  void decodeOnly_isOneDuration_andAtMostOneFailure(String answer, int failures) {
    post(sidecar(saying(answer).port()), TracedPd.CHAT);

    assertCounted("decode", failures);
  }

  @ParameterizedTest
  @MethodSource("answers")
  void chunkedDecode_isOneDuration_andAtMostOneFailure(String answer, int failures) {
    post(sidecar(saying(answer).port(), "--decode-chunk-size=4"), TracedPd.CHAT);

    assertCounted("decode", failures);
  }

  @ParameterizedTest
  @MethodSource("answers")
  void decodeAfterPrefill_isOneDuration_andAtMostOneFailure(String answer, int failures) {
    String prefiller = engineAnswering(ok("{}")).authority();

    post(sidecar(saying(answer).port()), TracedPd.CHAT, TracedPd.PREFILLER, prefiller);

    assertCounted("decode", failures);
    assertCounted("prefill", 0);
  }

  @ParameterizedTest
  @MethodSource("answers")
  void prefill_isOneDuration_andAtMostOneFailure(String answer, int failures) {
    String prefiller = saying(answer).authority();

    post(sidecar(engineAnswering(ok("{}")).port()), TracedPd.CHAT, TracedPd.PREFILLER, prefiller);

    assertCounted("prefill", failures);
  }

  @Test
  void prefillTimeout_isOneDurationAndOneFailure() {
    String prefiller =
        engine(
                (wire, server) -> {
                  server.request(wire);
                  wire.rest();
                })
            .authority();
    SidecarRig sidecar =
        sidecar(
            engineAnswering(ok("{}")).port(),
            "--moriio-write-mode",
            "--moriio-parallel-dispatch",
            "--moriio-local-pod-ip=10.0.0.9",
            "--moriio-parallel-decode-wait-timeout=50ms");

    post(sidecar, TracedPd.CHAT, TracedPd.PREFILLER, prefiller);

    assertCounted("prefill", 1);
  }

  @Test
  void failedPassthrough_isNotAFailureOfDecode() {
    sidecar(FreePort.next()).get("/v1/models");

    Map<String, Double> counted = scrape.awaitZero("inferspan_pd_requests_in_flight");
    assertThat(counted.get(durations("decode"))).as("durations").isZero();
    assertThat(counted.get(errors("decode"))).as("failures of decode").isZero();
    assertThat(counted.get(errors("request"))).as("other failures").isOne();
  }

  private void assertCounted(String stage, double failures) {
    Map<String, Double> counted = scrape.awaitZero("inferspan_pd_requests_in_flight");
    assertThat(counted.get(durations(stage))).as("durations").isOne();
    assertThat(counted.get(errors(stage))).as("failures").isEqualTo(failures);
  }

  private static String durations(String stage) {
    return "llm_d_disagg_sidecar_" + stage + "_duration_seconds_count";
  }

  private static String errors(String stage) {
    return "llm_d_disagg_sidecar_request_errors_total{stage=\"" + stage + "\"}";
  }
}
