package io.inferspan.pd.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.pd.rig.RawServer;
import io.inferspan.pd.rig.SidecarRig;
import io.inferspan.pd.rig.Wire;
import io.inferspan.pd.rig.WireTest;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that a request is refused if two hops could parse it differently. */
@SuppressWarnings("StringConcatToTextBlock") // lines end in CR LF
final class SmugglingTest extends WireTest {
  private static final String HIDDEN = "GET /hidden HTTP/1.1\r\nhost: a\r\n\r\n";

  private RawServer engine;
  private SidecarRig sidecar;

  @BeforeEach
  void start() {
    engine = engineAnswering(ok("hello"));
    sidecar = before(engine.port());
  }

  static Stream<Arguments> refused() {
    return Stream.of(
        post("length and coding", "content-length: 4\r\ntransfer-encoding: chunked", "0\r\n\r\n"),
        post("coding and length", "transfer-encoding: chunked\r\ncontent-length: 4", "0\r\n\r\n"),
        post("two lengths", "content-length: 0\r\ncontent-length: 33", HIDDEN),
        post("a length said twice", "content-length: 33\r\ncontent-length: 33", HIDDEN),
        post("a list of lengths", "content-length: 0, 33", HIDDEN),
        post("a length with a sign", "content-length: +0", HIDDEN),
        post("a negative length", "content-length: -1", HIDDEN),
        post("a length with a space inside", "content-length: 3 3", HIDDEN),
        post("a hexadecimal length", "content-length: 0x21", HIDDEN),
        post("a length beyond numbers", "content-length: 99999999999999999999", HIDDEN),
        post("an empty length", "content-length:", HIDDEN),
        post("a space before the colon", "transfer-encoding : chunked", "0\r\n\r\n"),
        post("a space before the length's colon", "content-length : 33", HIDDEN),
        post("a folded coding", "transfer-encoding:\r\n chunked", "0\r\n\r\n"),
        post("chunked, then identity", "transfer-encoding: chunked, identity", "0\r\n\r\n"),
        post("another coding", "transfer-encoding: xchunked", "0\r\n\r\n"),
        post("identity", "transfer-encoding: identity", HIDDEN),
        post("chunked twice", "transfer-encoding: chunked, chunked", "0\r\n\r\n"),
        post("two coding lines", "transfer-encoding: chunked\r\ntransfer-encoding: x", "0\r\n\r\n"),
        post("a vertical tab in the coding", "transfer-encoding: \u000bchunked", "0\r\n\r\n"),
        post("a space in a name", "bad name: x", ""),
        post("a NUL in a value", "x-a: b\0c", ""),
        post("a bare CR in a value", "x-a: b\rc", ""),
        post("a NUL in a name", "x-\0a: b", ""),
        post("no name", ": x", ""),
        post("no colon", "nothing", ""),
        chunks("a chunk size beyond numbers", "fffffffffffffffff\r\nx\r\n0\r\n\r\n"),
        chunks("a chunk size that wraps", "100000005\r\nhello\r\n0\r\n\r\n"),
        chunks("a chunk size that is none", "zz\r\nhello\r\n0\r\n\r\n"),
        chunks("a negative chunk size", "-5\r\nhello\r\n0\r\n\r\n"),
        chunks("a chunk size with 0x", "0x5\r\nhello\r\n0\r\n\r\n"),
        chunks("an empty chunk size", "\r\nhello\r\n0\r\n\r\n"),
        chunks("a chunk longer than said", "5\r\nhelloo\r\n0\r\n\r\n"),
        chunks("a bare LF after a size", "5\nhello\r\n0\r\n\r\n"));
  }

  private static Arguments post(String what, String headers, String body) {
    return Arguments.of(what, "POST /x HTTP/1.1\r\nhost: a\r\n" + headers + "\r\n\r\n" + body);
  }

  private static Arguments chunks(String what, String body) {
    return post(what, "transfer-encoding: chunked", body);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("refused")
  void ambiguousRequest_isRefused_andTheConnectionCloses(String what, String request)
      throws Exception {
    Wire client = to(sidecar).send(request + HIDDEN);

    assertThat(client.head()).startsWith("HTTP/1.1 400 ");
    assertThat(client.endsWithin(3000)).isTrue();
    assertThat(engine.heads()).noneMatch(head -> head.contains("/hidden"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"gzip, chunked", "gzip,chunked", "deflate, gzip, Chunked"})
  void unsupportedTransferCoding_is501_andReachesNoEngine(String coding) throws Exception {
    for (String path : new String[] {"/x", "/v1/completions"}) {
      Wire client =
          to(sidecar)
              .send(
                  "POST %s HTTP/1.1\r\nhost: a\r\ntransfer-encoding: %s\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
                      .formatted(path, coding));

      assertThat(client.head()).startsWith("HTTP/1.1 501 ");
      assertThat(client.endsWithin(3000)).isTrue();
    }
    assertThat(engine.heads()).isEmpty();
  }

  static Stream<Arguments> malformed() {
    return Stream.of(
        Arguments.of("no version", "GET /\r\n\r\n"),
        Arguments.of("a version that is none", "GET / HTTP/x.y\r\nhost: a\r\n\r\n"),
        Arguments.of("a space in the target", "GET /a b HTTP/1.1\r\nhost: a\r\n\r\n"),
        Arguments.of("a NUL in the target", "GET /a\0b HTTP/1.1\r\nhost: a\r\n\r\n"),
        Arguments.of("a CR in the target", "GET /a\rb HTTP/1.1\r\nhost: a\r\n\r\n"),
        Arguments.of("a target that is no path", "GET a HTTP/1.1\r\nhost: a\r\n\r\n"),
        Arguments.of("a name in the method", "G@T / HTTP/1.1\r\nhost: a\r\n\r\n"),
        Arguments.of(
            "TLS on a plain port", "\u0016\u0003\u0001\u0002\0\u0001\0\u0001\u00fc\r\n\r\n"),
        Arguments.of("only noise", "\u0001\u0002\u0003\r\n\r\n"),
        Arguments.of("HTTP/2.0 in text", "GET / HTTP/2.0\r\nhost: a\r\n\r\n"),
        Arguments.of("no host", "GET / HTTP/1.1\r\n\r\n"),
        Arguments.of("two hosts", "GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n"),
        Arguments.of(
            "coding in HTTP/1.0",
            "POST / HTTP/1.0\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n"));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("malformed")
  void malformedRequest_isRefused_andTheConnectionCloses(String what, String request)
      throws Exception {
    Wire client = to(sidecar).send(request);

    assertThat(client.head()).startsWith("HTTP/1.1 400 ");
    assertThat(client.endsWithin(3000)).isTrue();
    assertThat(engine.heads()).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("io.inferspan.pd.wire.StreamingTest#transports")
  void malformedRequest_isAnswered_evenIfTheClientClosesWithIt(String transport) throws Exception {
    SidecarRig other = before(engine.port(), "--transport=" + transport);
    for (int i = 0; i < 50; i++) {
      try (Wire client = to(other).send("GARBAGE\r\n\r\n")) {
        client.halfClose();
        assertThat(client.head()).startsWith("HTTP/1.1 400 ");
      }
    }
  }

  @ParameterizedTest
  @MethodSource("rewritten")
  void oddButLegalFraming_reachesTheEngineAsOneRequest(String headers, String body)
      throws Exception {
    Wire client =
        to(sidecar)
            .send("POST /x HTTP/1.1\r\nhost: a\r\n" + headers + "\r\n\r\n" + body)
            .send("GET /next HTTP/1.1\r\nhost: a\r\n\r\n");

    assertThat(client.message().status()).isEqualTo(200);
    assertThat(client.message().status()).isEqualTo(200);
    assertThat(firstLines()).containsExactly("POST /x HTTP/1.1", "GET /next HTTP/1.1");
  }

  static Stream<Arguments> rewritten() {
    return Stream.of(
        Arguments.of("transfer-encoding: chunked", "5;a=b;c=\"d\"\r\nhello\r\n0;x\r\nt: 1\r\n\r\n"),
        Arguments.of("Transfer-Encoding: CHUNKED", "5\r\nhello\r\n0\r\n\r\n"),
        Arguments.of("content-length: 5\r\nconnection: content-length", "hello"),
        Arguments.of(
            "transfer-encoding: chunked\r\nconnection: transfer-encoding",
            "5\r\nhello\r\n0\r\n\r\n"),
        Arguments.of("content-length: 5\r\nx-folded: a\r\n b", "hello"),
        Arguments.of("content-length: 5\r\nconnection: host, close-not", "hello"));
  }

  private List<String> firstLines() {
    return engine.heads().stream().map(head -> head.substring(0, head.indexOf('\r'))).toList();
  }

  @Test
  void connectionHeader_removesTheNamedHeaders_butNeverFramingOrHost() throws Exception {
    Wire client =
        to(sidecar)
            .send(
                "POST /x HTTP/1.1\r\nhost: a\r\nx-request-id: 1\r\nx-other: 2\r\n"
                    + "content-length: 2\r\n"
                    + "connection: content-length, x-request-id, host, keep-alive\r\n\r\nhi");

    assertThat(client.message().status()).isEqualTo(200);
    assertThat(engine.heads().getFirst())
        .containsIgnoringCase("\r\nhost: a\r\n")
        .containsIgnoringCase("\r\ncontent-length: 2\r\n")
        .contains("x-other: 2")
        .doesNotContain("x-request-id")
        .doesNotContainIgnoringCase("\r\nconnection:");
  }

  @Test
  void garbageAfterARequest_doesNotPreventItsResponse() throws Exception {
    Wire client = to(sidecar).send("GET /a HTTP/1.1\r\nhost: a\r\n\r\n\u0001\u0002\r\n\r\n");

    assertThat(client.message().body()).isEqualTo("hello");
    assertThat(client.head()).startsWith("HTTP/1.1 400 ");
    assertThat(client.endsWithin(3000)).isTrue();
  }
}
