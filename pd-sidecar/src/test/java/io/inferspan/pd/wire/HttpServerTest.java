package io.inferspan.pd.wire;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.pd.rig.Awaited;
import io.inferspan.pd.rig.Cleanliness;
import io.inferspan.pd.rig.RawServer;
import io.inferspan.pd.rig.SidecarRig;
import io.inferspan.pd.rig.Wire;
import io.inferspan.pd.rig.WireTest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the features of HTTP/1 through the proxy. */
@SuppressWarnings("StringConcatToTextBlock") // lines end in CR LF
final class HttpServerTest extends WireTest {
  private static final String GET = "GET /v1/models HTTP/1.1\r\nhost: a\r\n\r\n";

  /** Answers each request with its own target. */
  private RawServer echoing() {
    return engine(
        (wire, server) -> {
          while (true) {
            Wire.Message request = server.request(wire);
            wire.send(ok(request.head().split(" ", 3)[1] + request.body()));
          }
        });
  }

  @Test
  void pipelinedRequests_areAnsweredInOrder() throws Exception {
    SidecarRig sidecar = before(echoing().port());
    StringBuilder all = new StringBuilder();
    for (int i = 0; i < 100; i++) {
      all.append("POST /").append(i).append(" HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\n\r\nabc");
    }

    Wire client = to(sidecar).send(all.toString());

    for (int i = 0; i < 100; i++) {
      assertThat(client.message().body()).isEqualTo("/" + i + "abc");
    }
  }

  @Test
  void burstOfPipelinedRequests_isAnsweredCompletely() throws Exception {
    Wire client = to(before(echoing().port()));
    StringBuilder all = new StringBuilder();
    for (int i = 0; i < 5000; i++) {
      all.append("GET /").append(i).append(" HTTP/1.1\r\nhost: a\r\n\r\n");
    }

    Thread sender = Thread.startVirtualThread(() -> sendAll(client, all.toString()));

    for (int i = 0; i < 5000; i++) {
      assertThat(client.message().body()).isEqualTo("/" + i);
    }
    sender.join();
  }

  private static void sendAll(Wire client, String text) {
    try {
      client.send(text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void pipelinedRequestsByteByByte_areAnsweredInOrder() throws Exception {
    Wire client = to(before(echoing().port()));
    String all =
        "GET /a HTTP/1.1\r\nhost: a\r\n\r\nPOST /b HTTP/1.1\r\nhost: a\r\n"
            + "transfer-encoding: chunked\r\n\r\n2\r\nxy\r\n0\r\n\r\n";
    client.trickle(all);

    assertThat(client.message().body()).isEqualTo("/a");
    assertThat(client.message().body()).isEqualTo("/bxy");
  }

  @Test
  void trailers_areForwardedBothWays() throws Exception {
    RawServer engine =
        engine(
            (wire, server) -> {
              Wire.Message request = server.request(wire);
              server.saw(request.trailers());
              wire.send(
                  "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntrailer: x-sum\r\n\r\n"
                      + "2\r\nhi\r\n0\r\nx-sum: 7\r\n\r\n");
            });
    Wire client =
        to(before(engine.port()))
            .send(
                "POST /x HTTP/1.1\r\nhost: a\r\nte: trailers\r\ntransfer-encoding: chunked\r\n\r\n"
                    + "2\r\nhi\r\n0\r\nx-check: 5\r\n\r\n");

    Wire.Message answer = client.message();

    assertThat(answer.body()).isEqualTo("hi");
    assertThat(answer.trailers()).isEqualTo("x-sum: 7\r\n");
    assertThat(engine.heads()).contains("x-check: 5\r\n");
  }

  @Test
  void continue_isSentBeforeTheBody() throws Exception {
    Wire client =
        to(before(echoing().port()))
            .send(
                "POST /x HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n");

    assertThat(client.head()).startsWith("HTTP/1.1 100 ");
    client.send("hi");
    assertThat(client.message().body()).isEqualTo("/xhi");
    assertThat(client.send(GET).message().body()).isEqualTo("/v1/models");
  }

  @Test
  void continue_isSentForACollectedBody() throws Exception {
    RawServer engine = echoing();
    Wire client =
        to(before(engine.port()))
            .send(
                "POST /v1/completions HTTP/1.1\r\nhost: a\r\nx-prefiller-host-port: "
                    + engine.authority()
                    + "\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n");

    assertThat(client.head()).startsWith("HTTP/1.1 100 ");
    client.send("{}");
    // The prefiller's response is not JSON, which is reported as 400.
    assertThat(client.message().status()).isEqualTo(400);
  }

  @Test
  void refusedExpectation_closesTheConnection() throws Exception {
    Wire client =
        to(before(echoing().port(), "--body-limit=10"))
            .send(
                "POST /v1/completions HTTP/1.1\r\nhost: a\r\nx-prefiller-host-port: h:1\r\n"
                    + "expect: 100-continue\r\ncontent-length: 20\r\n\r\n");

    Wire.Message answer = client.message();

    assertThat(answer.status()).isEqualTo(413);
    assertThat(answer.header("connection")).isEqualTo("close");
    assertThat(client.endsWithin(3000)).isTrue();
  }

  @Test
  void healthWithExpectation_isNotReadAsTheBodyOfThatRequest() throws Exception {
    Wire client =
        to(before(echoing().port()))
            .send(
                "GET /health HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\n"
                    + "content-length: 20\r\n\r\n");

    assertThat(client.message().header("connection")).isEqualTo("close");
    assertThat(client.endsWithin(3000)).isTrue();
  }

  @Test
  void head_hasTheLengthButNoBody_andTheConnectionStays() throws Exception {
    RawServer engine = engineAnswering("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n");
    Wire client = to(before(engine.port())).send("HEAD /x HTTP/1.1\r\nhost: a\r\n\r\n");

    assertThat(client.head()).containsIgnoringCase("content-length: 5");
    assertThat(client.send("HEAD /y HTTP/1.1\r\nhost: a\r\n\r\n").head())
        .startsWith("HTTP/1.1 200");
    assertThat(client.send("HEAD /health HTTP/1.1\r\nhost: a\r\n\r\n").head())
        .startsWith("HTTP/1.1 200");
    assertThat(engine.connections()).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"204 No Content", "304 Not Modified"})
  void bodylessStatus_needsNoFraming(String status) throws Exception {
    RawServer engine = engineAnswering("HTTP/1.1 " + status + "\r\nx-a: b\r\n\r\n");
    Wire client = to(before(engine.port())).send(GET + GET);

    for (int i = 0; i < 2; i++) {
      assertThat(client.head())
          .startsWith("HTTP/1.1 " + status)
          .contains("x-a: b")
          .doesNotContainIgnoringCase("transfer-encoding");
    }
  }

  @Test
  void resetContent_hasNoBody_evenIfTheEngineSendsOne() throws Exception {
    RawServer engine =
        engineAnswering(
            "HTTP/1.1 205 Reset Content\r\ntransfer-encoding: chunked\r\n\r\n"
                + "2\r\nhi\r\n0\r\n\r\n");
    Wire client = to(before(engine.port())).send(GET + GET);

    for (int i = 0; i < 2; i++) {
      Wire.Message answer = client.message();
      assertThat(answer.status()).isEqualTo(205);
      assertThat(answer.body()).isEmpty();
    }
  }

  @Test
  void http10Client_getsAResponseThatEndsWithTheConnection() throws Exception {
    RawServer engine =
        engineAnswering(
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n");
    Wire client = to(before(engine.port())).send("GET /x HTTP/1.0\r\n\r\n");

    String answer = client.rest();

    assertThat(answer).startsWith("HTTP/1.1 200").endsWith("\r\n\r\nhi");
    assertThat(answer).doesNotContainIgnoringCase("transfer-encoding");
    assertThat(engine.heads().getFirst())
        .startsWith("GET /x HTTP/1.1\r\n")
        .containsIgnoringCase("\r\nhost: ");
  }

  @Test
  void http10ClientWithKeepAlive_keepsItsConnection() throws Exception {
    RawServer engine = engineAnswering(ok("hi"));
    Wire client = to(before(engine.port()));
    for (int i = 0; i < 3; i++) {
      client.send("GET /x HTTP/1.0\r\nhost: a\r\nconnection: keep-alive\r\n\r\n");
      Wire.Message answer = client.message();
      assertThat(answer.header("connection")).isEqualTo("keep-alive");
      assertThat(answer.body()).isEqualTo("hi");
    }
  }

  @Test
  void connectionClose_closesTheConnection() throws Exception {
    Wire client = to(before(engineAnswering(ok("hi")).port()));

    client.send("GET /x HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");

    assertThat(client.rest()).endsWith("hi");
  }

  @Test
  void largeHeaders_areAcceptedUpToTheLimit() throws Exception {
    RawServer engine = engineAnswering(ok("hi"));
    SidecarRig sidecar = before(engine.port(), "--max-header-bytes=16KiB");

    Wire large = to(sidecar).send(withHeader("x".repeat(10_000)));
    Wire tooLarge = to(sidecar).send(withHeader("x".repeat(17_000)));

    assertThat(large.message().status()).isEqualTo(200);
    assertThat(engine.heads().getFirst()).contains("x".repeat(10_000));
    assertThat(tooLarge.message().status()).isEqualTo(431);
    assertThat(tooLarge.endsWithin(3000)).isTrue();
  }

  private static String withHeader(String value) {
    return "GET /x HTTP/1.1\r\nhost: a\r\nx-big: " + value + "\r\n\r\n";
  }

  @Test
  void tooLongTarget_is414() throws Exception {
    SidecarRig sidecar = before(engineAnswering(ok("hi")).port());

    Wire client = to(sidecar).send("GET /" + "a".repeat(70_000) + " HTTP/1.1\r\nhost: a\r\n\r\n");

    assertThat(client.message().status()).isEqualTo(414);
  }

  @Test
  void absoluteTarget_isConvertedToOriginForm() throws Exception {
    RawServer engine = engineAnswering(ok("hi"));
    Wire client = to(before(engine.port()));
    for (String target :
        List.of("http://b:1/x?y=1", "http://b", "http://b?x=/y", "https://b/a/b")) {
      client.send("GET " + target + " HTTP/1.1\r\nhost: a\r\n\r\n").message();
    }

    assertThat(engine.heads().stream().map(head -> head.split(" ", 3)[1]))
        .containsExactly("/x?y=1", "/", "/?x=/y", "/a/b");
  }

  @Test
  void bytesOfATargetThatAreNotAscii_arePercentEncoded() throws Exception {
    RawServer engine = engineAnswering(ok("hi"));
    Wire client = to(before(engine.port()));

    client.send("GET /caf\u00c3\u00a9?q=\u00ff HTTP/1.1\r\nhost: a\r\n\r\n").message();

    assertThat(engine.heads().getFirst()).startsWith("GET /caf%C3%A9?q=%FF HTTP/1.1\r\n");
  }

  @Test
  void connect_isRefused() throws Exception {
    RawServer engine = engineAnswering(ok("hi"));
    Wire client = to(before(engine.port()));

    client.send("CONNECT a:1 HTTP/1.1\r\nhost: a:1\r\n\r\n");

    assertThat(client.message().status()).isEqualTo(405);
    assertThat(engine.connections()).isZero();
  }

  @Test
  void optionsOfTheServer_areForwarded() throws Exception {
    RawServer engine = engineAnswering(ok("hi"));

    to(before(engine.port())).send("OPTIONS * HTTP/1.1\r\nhost: a\r\n\r\n").message();

    assertThat(engine.heads().getFirst()).startsWith("OPTIONS * HTTP/1.1");
  }

  @Test
  void forwardedHeaders_areCompleted_andOthersStay() throws Exception {
    RawServer engine = engineAnswering(ok("hi"));
    to(before(engine.port()))
        .send(
            "GET /x HTTP/1.1\r\nHost: example\r\nX-Forwarded-For: 1.2.3.4\r\nAuthorization: s\r\n"
                + "Cookie: c\r\nKeep-Alive: 5\r\nProxy-Authorization: p\r\nTE: gzip\r\n\r\n")
        .message();

    assertThat(engine.heads().getFirst())
        .containsIgnoringCase("\r\nhost: example\r\n")
        .containsIgnoringCase("\r\nx-forwarded-for: 1.2.3.4, 127.0.0.1\r\n")
        .contains("Authorization: s", "Cookie: c")
        .doesNotContainIgnoringCase("keep-alive")
        .doesNotContainIgnoringCase("proxy-authorization")
        .doesNotContainIgnoringCase("\r\nte:");
  }

  @Test
  void emptyLinesBeforeARequest_areIgnored() throws Exception {
    Wire client = to(before(engineAnswering(ok("hi")).port()));

    assertThat(client.send("\r\n\r\n" + GET).message().body()).isEqualTo("hi");
  }

  @Test
  void clientThatReadsNoResponses_getsNoMoreRequestsServed() throws Exception {
    SidecarRig sidecar = before(engineAnswering(ok("hi")).port());
    Wire client = closing(Wire.taking(8 * 1024, sidecar.port()));
    byte[] many = "GET /health HTTP/1.1\r\nhost: a\r\n\r\n".repeat(1000).getBytes(US_ASCII);
    AtomicLong sent = new AtomicLong();
    Thread.ofVirtual()
        .start(
            () -> {
              try {
                while (true) {
                  client.send(many);
                  sent.addAndGet(many.length);
                }
              } catch (IOException _) {
                // The test is over.
              }
            });

    Awaited.within(Duration.ofSeconds(10), "the sender stalls", () -> stalls(sent));
    // At most one read in advance, and responses up to the write buffer's high-water mark.
    assertThat(Cleanliness.held()).isLessThan(256 << 10);
    client.reset();
    Awaited.within(Duration.ofSeconds(5), "closed", () -> sidecar.server().openConnections() == 0);
  }

  /** Returns whether the count is constant for a while. */
  private static boolean stalls(AtomicLong count) {
    long before = count.get();
    return before > 0 && !Awaited.holds(Duration.ofSeconds(1), () -> count.get() != before);
  }

  @Test
  void manyConnections_areCountedAndRemoved() throws Exception {
    SidecarRig sidecar = before(engineAnswering(ok("hi")).port());
    List<Wire> clients = IntStream.range(0, 50).mapToObj(_ -> to(sidecar)).toList();
    for (Wire client : clients) {
      assertThat(client.send(GET).message().body()).isEqualTo("hi");
    }
    assertThat(sidecar.server().openConnections()).isEqualTo(50);
    for (Wire client : clients) {
      client.close();
    }

    Awaited.within(
        Duration.ofSeconds(5), "forgotten", () -> sidecar.server().openConnections() == 0);
  }
}
