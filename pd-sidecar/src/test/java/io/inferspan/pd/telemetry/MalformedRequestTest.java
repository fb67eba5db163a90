package io.inferspan.pd.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.catalog.SpanNaming;
import io.inferspan.pd.rig.Awaited;
import io.inferspan.pd.rig.RawServer;
import io.inferspan.pd.rig.SidecarRig;
import io.inferspan.pd.rig.Wire;
import io.inferspan.pd.rig.WireTest;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that a malformed request is reported to its client, in its trace and in the metrics. */
@SuppressWarnings("StringConcatToTextBlock") // lines end in CR LF
final class MalformedRequestTest extends WireTest {
  private static final Duration SOON = Duration.ofSeconds(10);
  private static final String BROKEN_CHUNK = "5\r\nhello\r\nzz\r\n";

  @RegisterExtension static final TracingExtension TRACING = TracingExtension.create();

  private SidecarRig sidecar(RawServer engine, String... flags) {
    return closing(
        SidecarRig.before(engine.port())
            .with(flags)
            .tracedBy(TRACING.openTelemetry(), SpanNaming.PROPOSAL)
            .start());
  }

  private RawServer silent() {
    return engine(
        (wire, server) -> {
          server.saw(wire.head());
          wire.rest();
        });
  }

  private static String chunked(String path, String header) {
    return "POST "
        + path
        + " HTTP/1.1\r\nhost: a\r\n"
        + header
        + "transfer-encoding: chunked\r\n\r\n";
  }

  private static SpanRecord requestSpan() {
    return SidecarRig.only(TRACING.awaitSpans(1, SOON), "llm_d.pd_proxy.request");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/v1/chat/completions x-prefiller-host-port: 127.0.0.1:1\r\n",
        "/v1/chat/completions ",
        "/v1/files "
      })
  void malformedBody_is400WithAMessage_andIsRecordedOnTheSpan(String request) throws Exception {
    String[] parts = request.split(" ", 2);
    Wire client = to(sidecar(silent())).send(chunked(parts[0], parts[1]) + BROKEN_CHUNK);

    Wire.Message answer = client.message();

    assertThat(answer.status()).isEqualTo(400);
    assertThat(answer.header("content-type")).isEqualTo("text/plain; charset=utf-8");
    assertThat(answer.body()).isEqualTo("The request is not well-formed HTTP.");
    assertThat(client.endsWithin(3000)).isTrue();
    SpanRecord span = requestSpan();
    assertThat(span.isError()).isTrue();
    assertThat(span.attributes()).containsEntry("error.type", "malformed_request");
  }

  @Test
  void malformedBody_afterTheResponseBegan_truncatesIt_andIsRecordedOnTheSpan() throws Exception {
    RawServer engine =
        engine(
            (wire, server) -> {
              server.saw(wire.head());
              wire.send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n");
              wire.rest();
            });
    Wire client = to(sidecar(engine)).send(chunked("/v1/chat/completions", ""));
    client.head();

    client.send(BROKEN_CHUNK);

    assertThat(client.rest()).endsWith("2\r\nhi\r\n");
    assertThat(requestSpan().attributes()).containsEntry("error.type", "malformed_request");
    Awaited.within(SOON, "the engine is notified", () -> engine.ended() == 1);
  }

  @Test
  void tooLargeHeaders_areRefusedWithTheNameOfTheSetting() throws Exception {
    Wire client =
        to(sidecar(silent(), "--max-header-bytes=1KiB"))
            .send("GET / HTTP/1.1\r\nhost: a\r\nx-long: " + "x".repeat(2000) + "\r\n\r\n");

    Wire.Message answer = client.message();

    assertThat(answer.status()).isEqualTo(431);
    assertThat(answer.body()).contains("--max-header-bytes");
    TRACING.awaitSpans(0, SOON);
  }

  @Test
  void malformedBody_isOneFailedRequest_andNoFailedStage() throws Exception {
    Scrape scrape = closing(new Scrape(io.inferspan.pd.rig.FreePort.next()));
    SidecarRig sidecar = sidecar(silent(), "--metrics-port=" + scrape.port());
    Wire client = to(sidecar).send(chunked("/v1/chat/completions", "") + BROKEN_CHUNK);
    client.message();

    Map<String, Double> counted = scrape.awaitZero("inferspan_pd_requests_in_flight");

    assertThat(counted.get("llm_d_disagg_sidecar_request_errors_total{stage=\"request\"}")).isOne();
    assertThat(counted.get("llm_d_disagg_sidecar_request_errors_total{stage=\"decode\"}")).isZero();
    TRACING.awaitSpans(1, SOON);
  }
}
