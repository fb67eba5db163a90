package io.inferspan.pd.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.inferspan.pd.rig.Awaited;
import io.inferspan.pd.rig.FreePort;
import io.inferspan.pd.rig.RawServer;
import io.inferspan.pd.rig.SidecarRig;
import io.inferspan.pd.rig.Wire;
import io.inferspan.pd.rig.WireTest;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientAgent;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpVersion;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that HTTP/2, with prior knowledge and over TLS, works like HTTP/1.1. */
final class Http2Test extends WireTest {
  private Vertx vertx;
  private @Nullable HttpClientAgent client;

  @BeforeEach
  void start() {
    vertx = Vertx.vertx();
  }

  @AfterEach
  void stop() throws Exception {
    await(vertx.close());
  }

  /** A response and its body; the handler must be set where the response is received. */
  private record Answer(HttpClientResponse head, CompletableFuture<Buffer> body) {
    static Answer of(HttpClientResponse head) {
      return new Answer(head, head.body().toCompletionStage().toCompletableFuture());
    }

    String text() throws Exception {
      return body.get(8, TimeUnit.SECONDS).toString();
    }
  }

  private static Answer answer(io.vertx.core.Future<HttpClientResponse> coming) throws Exception {
    return await(coming.map(Answer::of));
  }

  private HttpClientAgent client(boolean secure) {
    HttpClientAgent used = client == null ? newClient(secure) : client;
    client = used;
    return used;
  }

  private HttpClientAgent newClient(boolean secure) {
    return vertx.createHttpClient(
        new HttpClientOptions()
            .setProtocolVersion(HttpVersion.HTTP_2)
            .setHttp2ClearTextUpgrade(false)
            .setUseAlpn(secure)
            .setSsl(secure)
            .setTrustAll(true)
            .setVerifyHost(false));
  }

  private static <T> T await(io.vertx.core.Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(8, TimeUnit.SECONDS);
  }

  private SidecarRig sidecar(RawServer engine, boolean secure, String... flags) throws Exception {
    return before(engine.port(), listening(secure, flags));
  }

  private HttpClientRequest request(
      SidecarRig sidecar, boolean secure, HttpMethod method, String path) throws Exception {
    HttpClientRequest request =
        await(client(secure).request(method, sidecar.port(), "localhost", path));
    assertThat(request.version()).isEqualTo(HttpVersion.HTTP_2);
    return request;
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void requestsWithAndWithoutBody_areForwarded(boolean secure) throws Exception {
    RawServer engine =
        engine(
            (wire, server) -> {
              while (true) {
                wire.send(ok("got " + server.request(wire).body()));
              }
            });
    SidecarRig sidecar = sidecar(engine, secure);

    assertThat(answer(request(sidecar, secure, HttpMethod.GET, "/a?b=c").send()).text())
        .isEqualTo("got ");
    assertThat(
            answer(request(sidecar, secure, HttpMethod.POST, "/b").send(Buffer.buffer("body")))
                .text())
        .isEqualTo("got body");

    assertThat(engine.heads().getFirst())
        .startsWith("GET /a?b=c HTTP/1.1\r\n")
        .containsIgnoringCase("\r\nhost: localhost")
        .doesNotContainIgnoringCase("x-http2")
        .doesNotContainIgnoringCase("transfer-encoding");
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void streamsAndTrailers_areForwardedBothWays(boolean secure) throws Exception {
    RawServer engine =
        engine(
            (wire, server) -> {
              Wire.Message request = server.request(wire);
              server.saw(request.body() + request.trailers());
              wire.send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n");
              wire.send("2\r\nho\r\n0\r\nx-sum: 4\r\n\r\n");
            });
    HttpClientRequest request =
        request(sidecar(engine, secure), secure, HttpMethod.POST, "/x").setChunked(true);
    await(request.write("ab"));

    Answer answer = answer(request.send(Buffer.buffer("cd")));

    assertThat(answer.text()).isEqualTo("hiho");
    assertThat(answer.head().trailers().get("x-sum")).isEqualTo("4");
    assertThat(engine.heads().getLast()).isEqualTo("abcd");
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void headAndErrors_haveNoUnexpectedBody(boolean secure) throws Exception {
    SidecarRig sidecar = before(FreePort.next(), listening(secure));

    Answer head = answer(request(sidecar, secure, HttpMethod.HEAD, "/x").send());
    Answer post = answer(request(sidecar, secure, HttpMethod.POST, "/x").send(Buffer.buffer("{}")));

    assertThat(head.head().statusCode()).isEqualTo(503);
    assertThat(head.text()).isEmpty();
    assertThat(post.text()).contains("The decode node is not ready.");
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void bodyOfAStatusWithoutOne_isDropped(boolean secure) throws Exception {
    RawServer engine = engineAnswering("HTTP/1.1 205 R\r\ncontent-length: 2\r\n\r\nhi");
    SidecarRig sidecar = sidecar(engine, secure);

    Answer reset = answer(request(sidecar, secure, HttpMethod.GET, "/x").send());

    assertThat(reset.head().statusCode()).isEqualTo(205);
    assertThat(reset.text()).isEmpty();
    assertThat(reset.head().getHeader("content-length")).isEqualTo("0");
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void bodyBeyondTheLimit_is413_evenWhileItIsSent(boolean secure) throws Exception {
    SidecarRig sidecar = before(FreePort.next(), listening(secure, "--body-limit=1000"));
    HttpClientRequest request =
        request(sidecar, secure, HttpMethod.POST, "/v1/completions")
            .putHeader("x-prefiller-host-port", "h:1")
            .setChunked(true);
    request.write(Buffer.buffer(new byte[2000]));

    Answer answer = answer(request.response());

    assertThat(answer.head().statusCode()).isEqualTo(413);
    assertThat(answer.text()).contains("--body-limit");
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void resetByTheClient_cancelsTheEngine_butNotItsSiblings(boolean secure) throws Exception {
    RawServer engine =
        engine(
            (wire, server) -> {
              String path = server.request(wire).head();
              wire.send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n");
              if (path.startsWith("POST /stays")) {
                Awaited.within(Duration.ofSeconds(5), "the other ends", () -> server.ended() == 1);
                wire.send("0\r\n\r\n");
              }
              wire.rest();
            });
    SidecarRig sidecar = sidecar(engine, secure);
    HttpClientAgent client = client(secure);
    List<Answer> answers = new ArrayList<>();
    List<HttpClientRequest> requests = new ArrayList<>();
    for (String path : List.of("/goes", "/stays")) {
      HttpClientRequest request =
          await(client.request(HttpMethod.POST, sidecar.port(), "localhost", path));
      requests.add(request);
      answers.add(answer(request.send()));
    }
    requests.getFirst().reset();

    Awaited.within(Duration.ofSeconds(1), "cancelled", () -> engine.ended() >= 1);
    assertThat(answers.get(1).text()).isEqualTo("hi");
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void truncatedResponse_isAResetStream(boolean secure) throws Exception {
    RawServer engine =
        engine(
            (wire, server) -> {
              server.request(wire);
              wire.send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n");
            });
    Answer answer = answer(request(sidecar(engine, secure), secure, HttpMethod.POST, "/x").send());

    assertThatThrownBy(answer::text).hasMessageContaining("reset");
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void manyStreams_shareOneConnection(boolean secure) throws Exception {
    RawServer engine =
        engine(
            (wire, server) -> {
              while (true) {
                wire.send(ok(server.request(wire).head().split(" ", 3)[1]));
              }
            });
    SidecarRig sidecar = sidecar(engine, secure);
    HttpClientAgent client = client(secure);
    List<CompletableFuture<String>> answers = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      String path = "/" + i;
      answers.add(
          client
              .request(HttpMethod.GET, sidecar.port(), "localhost", path)
              .compose(HttpClientRequest::send)
              .compose(HttpClientResponse::body)
              .map(Buffer::toString)
              .toCompletionStage()
              .toCompletableFuture());
    }
    for (int i = 0; i < 200; i++) {
      assertThat(answers.get(i).get(8, TimeUnit.SECONDS)).isEqualTo("/" + i);
    }
    assertThat(sidecar.server().openConnections()).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void slowStream_pausesTheEngine(boolean secure) throws Exception {
    int blocks = 500;
    RawServer engine =
        engine(
            (wire, server) -> {
              server.request(wire);
              wire.send("HTTP/1.1 200 OK\r\ncontent-length: " + blocks * 65536 + "\r\n\r\n");
              for (int i = 0; i < blocks; i++) {
                wire.send(new byte[65536]);
                server.saw("block");
              }
            });
    AtomicReference<HttpClientResponse> paused = new AtomicReference<>();
    HttpClientRequest request = request(sidecar(engine, secure), secure, HttpMethod.GET, "/x");
    HttpClientResponse answer =
        await(
            request
                .send()
                .onSuccess(
                    response -> {
                      response.pause();
                      paused.set(response);
                    }));
    Awaited.within(
        Duration.ofSeconds(60),
        "the engine stalls",
        () -> {
          int before = engine.heads().size();
          return before > 1
              && !Awaited.holds(Duration.ofMillis(200), () -> engine.heads().size() != before);
        });
    assertThat(engine.heads().size()).isLessThan(blocks);

    CompletableFuture<Buffer> body = answer.body().toCompletionStage().toCompletableFuture();
    answer.resume();
    assertThat(body.get(60, TimeUnit.SECONDS).length()).isEqualTo(blocks * 65536);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void drain_letsStreamsEnd_andRefusesNewConnections(boolean secure) throws Exception {
    RawServer engine =
        engine(
            (wire, server) -> {
              server.request(wire);
              wire.send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n");
              Awaited.within(Duration.ofSeconds(5), "signal", () -> server.heads().contains("go"));
              wire.send("0\r\n\r\n");
              wire.rest();
            });
    SidecarRig sidecar = sidecar(engine, secure);
    Answer answer = answer(request(sidecar, secure, HttpMethod.POST, "/x").send());
    Thread draining = Thread.ofVirtual().start(() -> drain(sidecar));
    Awaited.within(Duration.ofSeconds(2), "refused", () -> refused(sidecar.port()));

    engine.saw("go");

    assertThat(answer.text()).isEqualTo("hi");
    assertThat(draining.join(Duration.ofSeconds(3))).isTrue();
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
    } catch (java.io.IOException e) {
      return true;
    }
  }
}
