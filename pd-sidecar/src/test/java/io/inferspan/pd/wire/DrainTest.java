package io.inferspan.pd.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.catalog.SpanNaming;
import io.inferspan.pd.rig.Awaited;
import io.inferspan.pd.rig.FreePort;
import io.inferspan.pd.rig.RawServer;
import io.inferspan.pd.rig.SidecarRig;
import io.inferspan.pd.rig.Wire;
import io.inferspan.pd.rig.WireTest;
import io.inferspan.testing.TracingExtension;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests that a stopping sidecar completes requests, and accepts no new ones. */
final class DrainTest extends WireTest {
  private static final String HTTP2_BEGIN = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0";
  private static final String GET_ON_STREAM_1 = "\0\0\6\1\5\0\0\0\1\u0082\u0086\u0084\1\1a";
  private static final String RESET_OF_STREAM_1 = "\0\0\4\3\0\0\0\0\1";

  @RegisterExtension static final TracingExtension TRACING = TracingExtension.create();

  @Test
  void activeRequestsEnd_idleConnectionsClose_andNewOnesAreRefused() throws Exception {
    RawServer engine =
        engine(
            (wire, server) -> {
              server.request(wire);
              wire.send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n");
              Awaited.within(Duration.ofSeconds(5), "signal", () -> server.heads().contains("go"));
              wire.send("2\r\nho\r\n0\r\n\r\n");
              wire.rest();
            });
    SidecarRig sidecar = before(engine.port());
    Wire idle = to(sidecar).send("GET /health HTTP/1.1\r\nhost: a\r\n\r\n");
    idle.message();
    Wire busy = to(sidecar).send("GET /x HTTP/1.1\r\nhost: a\r\n\r\n");
    String head = busy.head();

    Thread draining = Thread.ofVirtual().start(() -> drain(sidecar));

    assertThat(idle.rest()).isEmpty();
    Awaited.within(Duration.ofSeconds(2), "refused", () -> refused(sidecar.port()));
    assertThat(draining.isAlive()).isTrue();
    engine.saw("go");
    assertThat(busy.body(head).body()).isEqualTo("hiho");
    assertThat(busy.rest()).isEmpty();
    assertThat(draining.join(Duration.ofSeconds(2))).isTrue();
    assertThat(sidecar.server().openConnections()).isZero();
  }

  @ParameterizedTest
  @MethodSource("io.inferspan.pd.wire.StreamingTest#transports")
  void answerThatItsClientStillReads_isNotCutOff(String transport) throws Exception {
    String large = "{\"text\":\"" + "x".repeat(12 << 20) + "\"}";
    RawServer engine = engineAnswering(ok(large));
    SidecarRig sidecar =
        before(engine.port(), "--transport=" + transport, "--metrics-port=" + FreePort.next());
    Wire slow = closing(Wire.taking(8 * 1024, sidecar.port()));
    slow.send("POST /v1/completions HTTP/1.1\r\nhost: a\r\nx-prefiller-host-port: ")
        .send(engine.authority() + "\r\ncontent-length: 2\r\n\r\n{}");
    String head = slow.head();
    Awaited.soon(() -> sidecar.gauge("requests_in_flight") == 0);

    Thread draining = Thread.ofVirtual().start(() -> drain(sidecar));
    Awaited.soon(() -> refused(sidecar.port()));
    draining.join(Duration.ofMillis(100));

    assertThat(slow.body(head).body()).hasSameSizeAs(large);
    assertThat(slow.rest()).isEmpty();
    assertThat(draining.join(Duration.ofSeconds(2))).isTrue();
  }

  @ParameterizedTest
  @MethodSource("io.inferspan.pd.wire.StreamingTest#transports")
  void unreadPipelinedRequests_doNotCutOffTheAnswerBeforeThem(String transport) throws Exception {
    String large = "{\"text\":\"" + "x".repeat(12 << 20) + "\"}";
    RawServer engine = engineAnswering(ok(large));
    SidecarRig sidecar =
        before(engine.port(), "--transport=" + transport, "--metrics-port=" + FreePort.next());
    Wire slow = closing(Wire.taking(8 * 1024, sidecar.port()));
    slow.send("POST /v1/completions HTTP/1.1\r\nhost: a\r\nx-prefiller-host-port: ")
        .send(engine.authority() + "\r\ncontent-length: 2\r\n\r\n{}");
    String head = slow.head();
    Awaited.soon(() -> sidecar.gauge("requests_in_flight") == 0);
    slow.send("GET /y HTTP/1.1\r\nhost: a\r\n\r\n".repeat(2000));

    Thread draining = Thread.ofVirtual().start(() -> drain(sidecar));
    Awaited.soon(() -> refused(sidecar.port()));

    assertThat(slow.body(head).body()).hasSameSizeAs(large);
    assertThat(draining.join(Duration.ofSeconds(3))).isTrue();
    assertThat(engine.heads()).noneMatch(asked -> asked.contains("/y"));
  }

  @Test
  void requestThatNeverEnds_isAbortedAfterTheTimeout() throws Exception {
    RawServer engine =
        engine(
            (wire, server) -> {
              server.request(wire);
              wire.rest();
            });
    SidecarRig sidecar = before(engine.port());
    to(sidecar).send("GET /x HTTP/1.1\r\nhost: a\r\n\r\n");
    Awaited.within(Duration.ofSeconds(2), "the engine is called", () -> engine.heads().size() == 1);

    sidecar.server().drain(Duration.ofMillis(200));

    assertThat(sidecar.server().openConnections()).isEqualTo(1);
  }

  @Test
  void abortedRequest_isTruncated_andHasOneSpan() throws Exception {
    RawServer engine = engine(DrainTest::beginning);
    SidecarRig sidecar = traced(engine);
    Wire client = to(sidecar).send("GET /x HTTP/1.1\r\nhost: a\r\n\r\n");
    client.head();

    sidecar.server().drain(Duration.ofMillis(50));
    sidecar.server().close();

    assertThat(client.rest()).isEqualTo("2\r\nhi\r\n");
    assertOneSpanOfACutRequest();
    assertThat(sidecar.server().openConnections()).isZero();
  }

  @Test
  void abortedStream_isReset_andHasOneSpan() throws Exception {
    RawServer engine = engine(DrainTest::beginning);
    SidecarRig sidecar = traced(engine);
    Wire client = to(sidecar).send(HTTP2_BEGIN).send(GET_ON_STREAM_1);
    Awaited.within(Duration.ofSeconds(2), "the engine is called", () -> engine.heads().size() == 1);

    sidecar.server().drain(Duration.ofMillis(50));
    sidecar.server().close();

    assertThat(client.rest()).contains("hi").contains(RESET_OF_STREAM_1);
    assertOneSpanOfACutRequest();
    assertThat(sidecar.server().openConnections()).isZero();
  }

  @Test
  void prefillOfAnAbortedRequest_endsWithIt() throws Exception {
    RawServer engine =
        engine(
            (wire, server) -> {
              server.request(wire);
              wire.rest();
            });
    SidecarRig sidecar = traced(engine, "--kv-connector=sglang");
    to(sidecar)
        .send("POST /v1/completions HTTP/1.1\r\nhost: a\r\nx-prefiller-host-port: ")
        .send(engine.authority() + "\r\ncontent-length: 2\r\n\r\n{}");
    Awaited.soon(() -> engine.heads().size() == 2);

    sidecar.server().drain(Duration.ofMillis(50));
    sidecar.server().close();

    assertThat(TRACING.spans())
        .hasSize(3)
        .allSatisfy(span -> assertThat(span.attribute("error.type")).isEqualTo("shutdown"));
    Awaited.soon(() -> engine.ended() == 2);
  }

  @Test
  void lingeringPrefill_endsWithTheProxy_andItsSpanIsExported() throws Exception {
    RawServer prefiller =
        engine(
            (wire, server) -> {
              server.request(wire);
              wire.rest();
            });
    RawServer decoder = engineAnswering(ok("{}"));
    SidecarRig sidecar = traced(decoder, "--kv-connector=sglang");
    assertThat(
            sidecar
                .post("/v1/completions", "{}", "x-prefiller-host-port", prefiller.authority())
                .statusCode())
        .isEqualTo(200);
    Awaited.soon(() -> prefiller.heads().size() == 1);

    sidecar.server().drain(Duration.ofMillis(50));
    sidecar.server().close();

    assertThat(SidecarRig.only(TRACING.spans(), "llm_d.pd_proxy.prefill").attribute("error.type"))
        .isEqualTo("shutdown");
    Awaited.soon(() -> prefiller.ended() == 1);
  }

  @Test
  void unconnectedPrefill_endsWithTheProxy_andItsSpanIsExported() throws Exception {
    try (ServerSocket full = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        Socket _ = new Socket(full.getInetAddress(), full.getLocalPort());
        Socket _ = new Socket(full.getInetAddress(), full.getLocalPort())) {
      SidecarRig sidecar = traced(engineAnswering(ok("{}")), "--kv-connector=sglang");
      String prefiller = "127.0.0.1:" + full.getLocalPort();
      assertThat(
              sidecar
                  .post("/v1/completions", "{}", "x-prefiller-host-port", prefiller)
                  .statusCode())
          .isEqualTo(200);

      sidecar.server().drain(Duration.ofMillis(50));
      sidecar.server().close();

      assertThat(SidecarRig.only(TRACING.spans(), "llm_d.pd_proxy.prefill").attribute("error.type"))
          .isEqualTo("shutdown");
    }
  }

  /** Starts a response, and never ends it. */
  private static void beginning(Wire wire, RawServer server) throws IOException {
    server.request(wire);
    wire.send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n");
    wire.rest();
  }

  private SidecarRig traced(RawServer engine, String... flags) {
    return closing(
        SidecarRig.before(engine.port())
            .with(flags)
            .tracedBy(TRACING.openTelemetry(), SpanNaming.PROPOSAL)
            .start());
  }

  private static void assertOneSpanOfACutRequest() {
    assertThat(TRACING.spans())
        .singleElement()
        .satisfies(span -> assertThat(span.attribute("error.type")).isEqualTo("shutdown"));
  }

  private static void drain(SidecarRig sidecar) {
    try {
      sidecar.server().drain(Duration.ofSeconds(8));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static boolean refused(int port) {
    try (Wire _ = Wire.to(port)) {
      return false;
    } catch (IOException e) {
      return true;
    }
  }
}
