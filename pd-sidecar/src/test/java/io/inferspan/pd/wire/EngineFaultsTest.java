package io.inferspan.pd.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.inferspan.pd.rig.Awaited;
import io.inferspan.pd.rig.FreePort;
import io.inferspan.pd.rig.RawServer;
import io.inferspan.pd.rig.ScriptedEngine;
import io.inferspan.pd.rig.SidecarRig;
import io.inferspan.pd.rig.Wire;
import io.inferspan.pd.rig.WireTest;
import java.io.EOFException;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that the client gets a correct error for every fault of an engine. */
final class EngineFaultsTest extends WireTest {
  private static final String GET = "GET /v1/models HTTP/1.1\r\nhost: a\r\n\r\n";
  private static final String POST =
      "POST /v1/completions HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n{}";

  @Test
  void decoderThatDoesNotListen_is503InTheEnginesFormat() throws Exception {
    for (String request : new String[] {GET, POST}) {
      Wire.Message answer = to(before(FreePort.next())).send(request).message();

      assertThat(answer.status()).isEqualTo(503);
      assertThat(ScriptedEngine.parse(answer.body()))
          .isEqualTo(
              ScriptedEngine.parse(
                  """
                  {"object":"error","message":"The decode node is not ready. Please check that the \
                  vLLM service is running and the port configuration is correct.",\
                  "type":"ServiceUnavailable","param":"","code":503}\
                  """));
    }
  }

  @Test
  void resetBeforeTheHead_is502() throws Exception {
    RawServer engine =
        engine(
            (wire, server) -> {
              server.request(wire);
              wire.reset();
            });

    Wire.Message answer = to(before(engine.port())).send(POST).message();

    assertThat(answer.status()).isEqualTo(502);
    assertThat(ScriptedEngine.parse(answer.body()).get("type").asText()).isEqualTo("BadGateway");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "SSH-2.0-OpenSSH_9.6\r\n\r\n",
        "HTTP/1.1 abc OK\r\n\r\n",
        "HTTP/1.1 99999 OK\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 -20 OK\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 000 OK\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 20 OK\r\ncontent-length: 0\r\n\r\n",
        "HTTP/7.1 200 OK\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nx-a: b\rset-cookie: c\r\n\r\n",
        "HTTP/1.1 200 OK\r\nx-a: b\0c\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\ncontent-length: -2\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 O\rK\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        "\0\0\0\0\r\n\r\n",
      })
  void responseThatIsNotHttp_is502InTheEnginesFormat(String garbage) throws Exception {
    RawServer engine =
        engine(
            (wire, server) -> {
              server.request(wire);
              wire.send(garbage);
              wire.rest();
            });

    Wire.Message answer = to(before(engine.port())).send(GET).message();

    assertThat(answer.status()).isEqualTo(502);
    assertThat(ScriptedEngine.parse(answer.body()).get("code").asInt()).isEqualTo(502);
    Awaited.within(Duration.ofSeconds(2), "its connection is closed", () -> engine.ended() == 1);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhi",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n5\r\na",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n",
      })
  void truncatedResponse_isTruncatedForTheClientToo(String part) throws Exception {
    RawServer engine =
        engine(
            (wire, server) -> {
              server.request(wire);
              wire.send(part);
            });
    Wire client = to(before(engine.port())).send(GET);
    String head = client.head();

    assertThatThrownBy(() -> client.body(head)).isInstanceOf(IOException.class);
  }

  @Test
  void malformedChunk_truncatesTheResponse() throws Exception {
    RawServer engine =
        engineAnswering("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\nzz\r\n");
    Wire client = to(before(engine.port())).send(GET);
    client.head();

    assertThat(client.bytes(7)).isEqualTo("2\r\nhi\r\n");
    assertThatThrownBy(() -> client.bytes(1)).isInstanceOf(IOException.class);
  }

  @Test
  void unframedResponse_endsWithTheEnginesConnection() throws Exception {
    RawServer engine =
        engine(
            (wire, server) -> {
              server.request(wire);
              wire.send("HTTP/1.1 200 OK\r\n\r\nhello");
            });
    Wire client = to(before(engine.port()));

    assertThat(client.send(GET).message().body()).isEqualTo("hello");
    assertThat(client.send(GET).message().body()).isEqualTo("hello");
  }

  @ParameterizedTest
  @ValueSource(strings = {"HTTP/1.1", "HTTP/1.0"})
  void unframedResponseThatIsReset_isNotComplete(String version) throws Exception {
    RawServer engine =
        engine(
            (wire, server) -> {
              server.saw(wire.head());
              wire.send("HTTP/1.1 200 OK\r\n\r\nhello");
              wire.bytes(4);
              wire.reset();
            });
    Wire client =
        to(before(engine.port()))
            .send("POST /x " + version + "\r\nhost: a\r\n" + "content-length: 4\r\n\r\n");
    String head = client.head();
    if (head.contains("chunked")) {
      assertThat(client.bytes(10)).isEqualTo("5\r\nhello\r\n");
      client.send("\r\n\r\n");
      assertThatThrownBy(() -> client.bytes(1)).isInstanceOf(IOException.class);
    } else {
      assertThat(client.bytes(5)).isEqualTo("hello");
      client.send("\r\n\r\n");
      assertThat(client.rest()).isEqualTo("<reset>");
    }
  }

  @Test
  void bytesAfterTheResponse_areNotTheNextResponse() throws Exception {
    RawServer engine = engineAnswering(ok("hi") + ok("evil"));
    Wire client = to(before(engine.port())).send(GET.repeat(10));

    for (int i = 0; i < 10; i++) {
      assertThat(client.message().body()).isEqualTo("hi");
    }
  }

  @Test
  void dataWithoutARequest_closesTheConnection() throws Exception {
    RawServer engine =
        engine(
            (wire, server) -> {
              server.request(wire);
              wire.send(ok("hi"));
              wire.send(ok("evil"));
              wire.rest();
            });
    Wire client = to(before(engine.port()));

    for (int i = 0; i < 3; i++) {
      assertThat(client.send(GET).message().body()).isEqualTo("hi");
      Awaited.within(Duration.ofSeconds(1), "closed", () -> engine.ended() == engine.connections());
    }
  }

  @Test
  void interimResponses_areNotForwarded() throws Exception {
    RawServer engine =
        engineAnswering(
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n" + ok("hi"));
    Wire client = to(before(engine.port()));

    assertThat(client.send(GET).message().body()).isEqualTo("hi");
    assertThat(client.send(GET).message().body()).isEqualTo("hi");
    assertThat(engine.connections()).isEqualTo(1);
  }

  @Test
  void getOverADeadIdleConnection_isRetried() throws Exception {
    RawServer engine = dyingAfterOneAnswer();
    Wire client = to(before(engine.port()));

    assertThat(client.send(GET).message().body()).isEqualTo("hi");
    assertThat(client.send(GET).message().body()).isEqualTo("hi");
    assertThat(engine.heads()).hasSize(3);
  }

  @Test
  void postOverADeadIdleConnection_isNotRetried_butTheClientIsAskedTo() throws Exception {
    RawServer engine = dyingAfterOneAnswer();
    Wire client = to(before(engine.port()));

    assertThat(client.send(POST).message().body()).isEqualTo("hi");
    Wire.Message answer = client.send(POST).message();
    assertThat(answer.status()).isEqualTo(503);
    assertThat(answer.header("retry-after")).isEqualTo("1");
    assertThat(engine.heads()).hasSize(2);
  }

  /** Answers one request on each connection, and resets it when the second one comes. */
  private RawServer dyingAfterOneAnswer() {
    return engine(
        (wire, server) -> {
          server.request(wire);
          wire.send(ok("hi"));
          server.request(wire);
          wire.reset();
        });
  }

  @Test
  void stalePrefillConnection_isReplaced() throws Exception {
    AtomicInteger asked = new AtomicInteger();
    RawServer prefiller =
        engine(
            (wire, server) -> {
              while (asked.incrementAndGet() != 2) {
                server.request(wire);
                wire.send(ok("{\"kv_transfer_params\":{}}"));
              }
              server.request(wire);
              wire.reset();
            });
    RawServer decoder = engineAnswering(ok("{}"));
    SidecarRig sidecar = before(decoder.port());
    for (int i = 0; i < 2; i++) {
      assertThat(
              sidecar
                  .post("/v1/completions", "{}", "x-prefiller-host-port", prefiller.authority())
                  .statusCode())
          .isEqualTo(200);
    }
    assertThat(prefiller.heads()).hasSize(3);
    assertThat(prefiller.connections()).isEqualTo(2);
  }

  @Test
  void deadPrefiller_is502_andDecodeIsNotCalled() throws Exception {
    RawServer decoder = engineAnswering(ok("{}"));
    SidecarRig sidecar = before(decoder.port());

    var answer =
        sidecar.post(
            "/v1/completions", "{}", "x-prefiller-host-port", "127.0.0.1:" + FreePort.next());

    assertThat(answer.statusCode()).isEqualTo(502);
    assertThat(answer.body()).isEmpty();
    assertThat(decoder.connections()).isZero();
  }

  @Test
  void disconnectedClient_cancelsAHangingPrefill() throws Exception {
    RawServer prefiller =
        engine(
            (wire, server) -> {
              server.request(wire);
              wire.rest();
            });
    RawServer decoder = engineAnswering(ok("{}"));
    Wire client =
        to(before(decoder.port()))
            .send(
                "POST /v1/completions HTTP/1.1\r\nhost: a\r\nx-prefiller-host-port: "
                    + prefiller.authority()
                    + "\r\ncontent-length: 2\r\n\r\n{}");
    Awaited.within(Duration.ofSeconds(3), "prefill is called", () -> prefiller.heads().size() == 1);

    client.close();

    Awaited.within(Duration.ofSeconds(1), "cancelled", () -> prefiller.ended() == 1);
    assertThat(decoder.connections()).isZero();
  }

  @Test
  void disconnectedClient_cancelsAHangingDecode() throws Exception {
    RawServer engine =
        engine(
            (wire, server) -> {
              server.request(wire);
              wire.rest();
            });
    Wire client = to(before(engine.port())).send(POST);
    Awaited.within(Duration.ofSeconds(3), "the engine is called", () -> engine.heads().size() == 1);

    client.reset();

    Awaited.within(Duration.ofSeconds(1), "cancelled", () -> engine.ended() == 1);
  }

  @Test
  void clientThatDisconnectsDuringAStream_cancelsDecodeWithinASecond() throws Exception {
    RawServer engine =
        engine(
            (wire, server) -> {
              server.request(wire);
              wire.send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n");
              wire.rest();
            });
    Wire client = to(before(engine.port())).send(POST);
    client.head();
    assertThat(client.bytes(10)).isEqualTo("5\r\nhello\r\n");

    client.close();

    Awaited.within(Duration.ofSeconds(1), "cancelled", () -> engine.ended() == 1);
  }

  @Test
  void earlyResponse_reachesAClientThatStillSends_andTheConnectionContinues() throws Exception {
    RawServer engine =
        engine(
            (wire, server) -> {
              server.saw(wire.head());
              wire.send("HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\nno");
              wire.rest();
            });
    Wire client =
        to(before(engine.port()))
            .send("POST /x HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\n");

    assertThat(client.message().status()).isEqualTo(413);
    client.send("x".repeat(100));
    assertThat(client.send(GET).message().status()).isEqualTo(413);
  }

  @Test
  void earlyResponseOfAnEngineThatStopsReading_reachesTheClient() throws Exception {
    RawServer engine =
        engine(
            (wire, server) -> {
              server.saw(wire.head());
              wire.send("HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\nno");
            });
    for (int i = 0; i < 20; i++) {
      Wire client =
          to(before(engine.port()))
              .send("POST /x HTTP/1.1\r\nhost: a\r\ncontent-length: 4000000\r\n\r\n");
      Thread.ofVirtual().start(() -> flood(client));
      assertThat(client.message().status()).isEqualTo(413);
      client.close();
    }
  }

  private static void flood(Wire client) {
    try {
      for (int i = 0; i < 40; i++) {
        client.send("x".repeat(100_000));
      }
    } catch (IOException _) {
      // The server stopped reading, as expected.
    }
  }

  @Test
  void halfClosedEngine_endsTheResponse() throws Exception {
    RawServer engine =
        engine(
            (wire, server) -> {
              server.request(wire);
              wire.send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n");
              wire.halfClose();
              wire.rest();
            });
    Wire client = to(before(engine.port())).send(GET);
    String head = client.head();

    assertThatThrownBy(() -> client.body(head)).isInstanceOf(EOFException.class);
    Awaited.within(Duration.ofSeconds(1), "closed", () -> engine.ended() == 1);
  }
}
