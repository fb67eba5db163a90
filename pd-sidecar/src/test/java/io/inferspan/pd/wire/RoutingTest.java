package io.inferspan.pd.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.pd.rig.FreePort;
import io.inferspan.pd.rig.ScriptedEngine;
import io.inferspan.pd.rig.SidecarRig;
import io.inferspan.pd.rig.Wire;
import io.inferspan.pd.rig.WireTest;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that requests are routed and refused as in llm-d's own tests. */
final class RoutingTest extends WireTest {
  private static final String CHAT = "/v1/chat/completions";
  private static final String HEADER = "x-prefiller-host-port";
  private static final String BODY = "{\"model\":\"m\",\"b\":1,\"a\":2}";

  private final ScriptedEngine first =
      closing(ScriptedEngine.answering("{\"kv_transfer_params\":{}}"));
  private final ScriptedEngine second =
      closing(ScriptedEngine.answering("{\"kv_transfer_params\":{}}"));
  private final ScriptedEngine decoder = closing(ScriptedEngine.answering("{}"));

  private SidecarRig sidecar(String... flags) {
    return before(decoder.port(), flags);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " ", ",", " , ", ",127.0.0.1:1"})
  void blankPrefiller_isDecodeOnly_withUnchangedBody(String blank) throws Exception {
    Wire client = to(sidecar());

    Wire.Message answer = client.send(chat(HEADER + ": " + blank + "\r\n")).message();

    assertThat(answer.status()).isEqualTo(200);
    assertThat(decoder.requests().getFirst().getBodyAsString()).isEqualTo(BODY);
    assertThat(decoder.requests().getFirst().containsHeader(HEADER)).isFalse();
  }

  private static String chat(String headers) {
    return "POST "
        + CHAT
        + " HTTP/1.1\r\nhost: a\r\n"
        + headers
        + "content-length: "
        + BODY.length()
        + "\r\n\r\n"
        + BODY;
  }

  @Test
  void firstOfSeveralCandidates_isChosen() throws Exception {
    Wire client = to(sidecar());
    String a = first.authority();
    String b = second.authority();
    for (String headers :
        new String[] {
          HEADER + ": " + a + "," + b + "\r\n",
          HEADER + ": " + a + "\r\n" + HEADER + ": " + b + "\r\n",
          HEADER + ":  " + a + " \r\n",
          HEADER + ": http://" + a + "\r\n",
        }) {
      assertThat(client.send(chat(headers)).message().status()).isEqualTo(200);
    }

    assertThat(first.requests()).hasSize(4);
    assertThat(second.requests()).isEmpty();
  }

  @Test
  void commasInSeveralLines_areNotSeparators() throws Exception {
    Wire client = to(sidecar());
    String both = first.authority() + "," + second.authority();

    int status = client.send(chat((HEADER + ": " + both + "\r\n").repeat(2))).message().status();

    assertThat(status).isEqualTo(502);
    assertThat(decoder.requests()).isEmpty();
  }

  @Test
  void sampling_choosesAmongAllCandidates() {
    SidecarRig sidecar = sidecar("--enable-prefiller-sampling=true");
    for (int i = 0; i < 40; i++) {
      sidecar.post(CHAT, BODY, HEADER, first.authority() + "," + second.authority());
    }

    assertThat(first.requests()).isNotEmpty();
    assertThat(second.requests()).isNotEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"a..b:80", ".:80", "-:80", "%:80", "_a:80", "xn--a:80", ":::80", "1.2.3:80"})
  void hostThatCannotExist_is502(String host) throws Exception {
    assertThat(to(sidecar()).send(chat(HEADER + ": " + host + "\r\n")).message().status())
        .isEqualTo(502);
  }

  @ParameterizedTest
  @ValueSource(ints = {64, 300})
  void hostLongerThanNames_is502(int length) throws Exception {
    hostThatCannotExist_is502("a".repeat(length) + ":80");
  }

  @Test
  void prefillHeader_isNotForwarded() {
    sidecar().post(CHAT, BODY, HEADER, first.authority());

    assertThat(first.requests().getFirst().containsHeader(HEADER)).isFalse();
    assertThat(decoder.requests().getFirst().containsHeader(HEADER)).isFalse();
  }

  @Test
  void prefillerThatIsNotAllowed_is403_andNoEngineIsCalled() {
    SidecarRig sidecar = sidecar("--enable-ssrf-protection=true", "--allow-target=10.0.0.1");

    HttpResponse<String> answer = sidecar.post(CHAT, BODY, HEADER, first.authority());

    assertThat(answer.statusCode()).isEqualTo(403);
    assertThat(answer.body()).isEqualTo("Forbidden: prefill target not allowed by SSRF protection");
    assertThat(first.requests()).isEmpty();
    assertThat(decoder.requests()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"127.0.0.1", "localhost"})
  void allowedHost_isAllowedOnAnyPort(String host) {
    SidecarRig sidecar = sidecar("--enable-ssrf-protection=true", "--allow-target=" + host);

    HttpResponse<String> answer = sidecar.post(CHAT, BODY, HEADER, host + ":" + first.port());

    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(first.requests()).hasSize(1);
  }

  static Stream<Arguments> passthrough() {
    return Stream.of("/v1/models", "/metrics", "/healthz", "/unknown/path?q=1", CHAT)
        .flatMap(path -> Stream.of(Arguments.of(path, false), Arguments.of(path, true)));
  }

  @ParameterizedTest
  @MethodSource("passthrough")
  void otherRequests_reachTheDecoderUnchanged(String path, boolean secure) throws Exception {
    SidecarRig sidecar = sidecar(listening(secure));

    assertThat(sidecar.get(path, "x-a", "b").body()).isEqualTo("{}");

    assertThat(decoder.requests().getFirst().getUrl()).isEqualTo(path);
    assertThat(decoder.requests().getFirst().getHeader("x-a")).isEqualTo("b");
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void health_isAnsweredByTheSidecar(boolean secure) throws Exception {
    SidecarRig sidecar = before(FreePort.next(), listening(secure));

    HttpResponse<String> answer = sidecar.get("/health");

    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.body()).isEmpty();
    assertThat(sidecar.post("/health", "").statusCode()).isEqualTo(503);
  }

  @Test
  void eachRank_hasItsOwnListenerAndDecoder() throws Exception {
    int decoders = pairOfPorts();
    int ports = pairOfPorts();
    try (ScriptedEngine zero = ScriptedEngine.on(decoders);
        ScriptedEngine one = ScriptedEngine.on(decoders + 1)) {
      SidecarRig sidecar =
          before(decoders, "--data-parallel-size=2", "--port=" + ports, "--pod-ip=10.1.1.1");
      try (Wire second = Wire.to(ports + 1)) {
        second.send(chat("")).message();
      }
      assertThat(one.requests()).hasSize(1);

      String asked = "10.1.1.1:" + (ports + 1);
      sidecar.post(CHAT, BODY, "x-data-parallel-host-port", asked);
      assertThat(one.requests()).hasSize(2);
      assertThat(one.requests().get(1).getHeader("x-data-parallel-host-port")).isEqualTo(asked);

      HttpResponse<String> unknown =
          sidecar.post(CHAT, BODY, "x-data-parallel-host-port", "10.1.1.1:1");
      assertThat(unknown.statusCode()).isEqualTo(400);
      assertThat(unknown.body()).isEmpty();
      assertThat(zero.requests()).isEmpty();
    }
  }

  /** Returns a free port whose successor is also free. */
  private static int pairOfPorts() {
    while (true) {
      int port = FreePort.next();
      try (var _ = new java.net.ServerSocket(port + 1)) {
        return port;
      } catch (java.io.IOException _) {
        // The next port is in use; try again.
      }
    }
  }

  @Test
  void announcedBodyBeyondTheLimit_is413() throws Exception {
    Wire client = to(sidecar("--body-limit=100"));

    Wire.Message answer =
        client
            .send(
                "POST "
                    + CHAT
                    + " HTTP/1.1\r\nhost: a\r\n"
                    + HEADER
                    + ": h:1\r\ncontent-length: 101\r\n\r\n")
            .message();

    assertThat(answer.status()).isEqualTo(413);
    assertThat(client.endsWithin(3000)).isTrue();
  }

  @Test
  void chunkedBodyBeyondTheLimit_is413_howeverMuchFollows() throws Exception {
    Wire client = to(sidecar("--body-limit=100"));
    client.send(
        "POST "
            + CHAT
            + " HTTP/1.1\r\nhost: a\r\n"
            + HEADER
            + ": h:1\r\n"
            + "transfer-encoding: chunked\r\n\r\n");
    client.send("20000\r\n" + "x".repeat(0x20000) + "\r\n");

    assertThat(client.message().status()).isEqualTo(413);
    assertThat(client.endsWithin(3000)).isTrue();
  }

  @Test
  void streamedBody_hasNoLimit() {
    SidecarRig sidecar = sidecar("--body-limit=100");

    assertThat(sidecar.post(CHAT, "x".repeat(1000)).statusCode()).isEqualTo(200);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "[]", "{", "{}x", "{\"a\":NaN}", "\"a\"", "{\"a\":[[[[[[]]]]]]}"})
  void bodyThatIsNotAnObject_is400InTheEnginesFormat(String body) {
    HttpResponse<String> answer =
        sidecar("--json-depth-limit=5").post(CHAT, body, HEADER, first.authority());

    assertThat(answer.statusCode()).isEqualTo(400);
    var error = ScriptedEngine.parse(answer.body());
    assertThat(error.get("type").asText()).isEqualTo("BadRequestError");
    assertThat(error.get("message").asText()).startsWith("invalid JSON: ");
    assertThat(first.requests()).isEmpty();
  }

  @Test
  void malformedPrefiller_isABadGateway() {
    for (String bad : new String[] {"host:port", "a b:1", "h:0", "h:65536", "[::1:80"}) {
      assertThat(sidecar().post(CHAT, BODY, HEADER, bad).statusCode()).as(bad).isEqualTo(502);
    }
    assertThat(decoder.requests()).isEmpty();
  }

  @Test
  void compressedResponse_isForwardedUnchanged() {
    decoder.answer(ScriptedEngine.json(200, "abc").withHeader("content-encoding", "x-own"));

    HttpResponse<String> answer =
        sidecar()
            .send(
                sidecar()
                    .request("/v1/models")
                    .method("PATCH", HttpRequest.BodyPublishers.noBody()));

    assertThat(answer.headers().firstValue("content-encoding")).contains("x-own");
    assertThat(answer.body()).isEqualTo("abc");
  }
}
