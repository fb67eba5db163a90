package io.inferspan.tracecontext;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.testing.engine.EngineRequest;
import io.inferspan.testing.engine.FakeEngine;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Sends the requests of the W3C Trace Context test suite through a proxy, and checks the headers
 * that an engine behind it receives.
 *
 * <p>The proxy must sample all traces that have no parent. {@link #DROPPED} lists where the
 * OpenTelemetry SDK differs from the suite.
 */
public final class TraceContextSuite {

  private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
  private static final String SPAN = "b7ad6b7169203331";
  private static final String IDS = TRACE + "-" + SPAN;
  private static final String SAMPLED = "00-" + IDS + "-01";
  private static final String UNSAMPLED = "00-" + IDS + "-00";
  private static final String BODY =
      "{\"model\":\"tiny\",\"messages\":[{\"role\":\"user\",\"content\":\"one two\"}]}";
  private static final Pattern LENGTH =
      Pattern.compile("\r\ncontent-length: *(\\d+)", Pattern.CASE_INSENSITIVE);
  private static final int TIMEOUT_MILLIS = 30_000;

  private static final List<String> CONTINUED =
      List.of(
          "traceparent: " + SAMPLED,
          "TraceParent: " + SAMPLED,
          "TrAcEpArEnT: " + SAMPLED,
          "TRACEPARENT: " + SAMPLED,
          "traceparent: cc-" + IDS + "-01",
          "traceparent: cc-" + IDS + "-01-what-comes-later",
          "traceparent:  " + SAMPLED,
          "traceparent: \t" + SAMPLED,
          "traceparent: " + SAMPLED + " ",
          "traceparent: " + SAMPLED + "\t",
          "traceparent: \t " + SAMPLED + " \t");

  private static final List<List<String>> RESTARTED = restarted();

  /** The expected {@code tracestate}, followed by the header lines to send. */
  private static final List<List<String>> STATES =
      List.of(
          List.of("foo=1,bar=2", "tracestate: foo=1,bar=2"),
          List.of("", "trace-state: foo=1"),
          List.of("", "trace.state: foo=1"),
          List.of("foo=1", "TraceState: foo=1"),
          List.of("foo=1", "TrAcEsTaTe: foo=1"),
          List.of("foo=1", "TRACESTATE: foo=1"),
          List.of("", "tracestate: "),
          List.of("foo=1", "tracestate: foo=1", "tracestate: "),
          List.of("foo=1", "tracestate: ", "tracestate: foo=1"),
          List.of(
              "foo=1,bar=2,rojo=1,congo=2,baz=3",
              "tracestate: foo=1,bar=2",
              "tracestate: rojo=1,congo=2",
              "tracestate: baz=3"),
          List.of("foo=1,bar=2,baz=3", "tracestate: foo=1 \t , \t bar=2, \t baz=3"),
          List.of("foo=1,bar=2,baz=3", "tracestate: foo=1\t \t,\t \tbar=2,\t \tbaz=3"),
          List.of("foo=1", "tracestate:  foo=1"),
          List.of("foo=1", "tracestate: \tfoo=1"),
          List.of("foo=1", "tracestate: foo=1 "),
          List.of("foo=1", "tracestate: foo=1\t"),
          List.of("foo=1", "tracestate: \t foo=1 \t"),
          List.of("", "tracestate: foo =1"),
          List.of("", "tracestate: FOO=1"),
          List.of("", "tracestate: foo.bar=1"),
          List.of("", "tracestate: @foo=1,bar=2"),
          List.of("", "tracestate: foo=bar=baz"),
          List.of("", "tracestate: foo=,bar=3"),
          List.of(
              members(1, 32), "tracestate: " + members(1, 10), "tracestate: " + members(11, 32)),
          List.of("", "tracestate: " + members(1, 10), "tracestate: " + members(11, 33)),
          List.of(
              "foo=1," + "z".repeat(256) + "=1",
              "tracestate: foo=1",
              "tracestate: " + "z".repeat(256) + "=1"),
          List.of("", "tracestate: foo=1", "tracestate: " + "z".repeat(257) + "=1"),
          List.of(
              "foo=1," + "t".repeat(241) + "@" + "v".repeat(14) + "=1",
              "tracestate: foo=1",
              "tracestate: " + "t".repeat(241) + "@" + "v".repeat(14) + "=1"));

  /** Valid values that the SDK drops: keys of W3C Level 2, and lists with a repeated key. */
  private static final List<String> DROPPED =
      List.of(
          "foo@=1,bar=2",
          "foo@@bar=1,bar=2",
          "foo@bar@baz=1,bar=2",
          "t".repeat(242) + "@v=1",
          "t@" + "v".repeat(15) + "=1",
          "foo=1,foo=1",
          "foo=1,foo=2",
          "foo=1\r\ntracestate: foo=1",
          "foo=1\r\ntracestate: foo=2");

  private static List<List<String>> restarted() {
    List<List<String>> all = new ArrayList<>();
    all.add(List.of());
    all.add(List.of("tracestate: foo=1,bar=2"));
    all.add(List.of("trace-parent: " + SAMPLED));
    all.add(List.of("trace.parent: " + SAMPLED));
    all.add(List.of("traceparent: " + SAMPLED, "traceparent: " + SAMPLED.replace("b7", "b8")));
    for (String value :
        List.of(
            "00-" + IDS + "-01.",
            "00-" + IDS + "-01-what-comes-later",
            "cc-" + IDS + "-01.what-comes-later",
            "ff-" + IDS + "-01",
            ".0-" + IDS + "-01",
            "0.-" + IDS + "-01",
            "000-" + IDS + "-01",
            "0000-" + IDS + "-01",
            "0-" + IDS + "-01",
            "00-" + "0".repeat(32) + "-" + SPAN + "-01",
            "00-." + IDS.substring(1) + "-01",
            "00-" + TRACE.substring(1) + ".-" + SPAN + "-01",
            "00-" + TRACE + "3-" + SPAN + "-01",
            "00-" + TRACE.substring(1) + "-" + SPAN + "-01",
            "00-" + TRACE + "-" + "0".repeat(16) + "-01",
            "00-" + TRACE + "-." + SPAN.substring(1) + "-01",
            "00-" + TRACE + "-" + SPAN.substring(1) + ".-01",
            "00-" + IDS + "7-01",
            "00-" + TRACE + "-" + SPAN.substring(1) + "-01",
            "00-" + IDS + "-.0",
            "00-" + IDS + "-0.",
            "00-" + IDS + "-001",
            "00-" + IDS + "-1")) {
      all.add(List.of("traceparent: " + value, "tracestate: foo=1"));
    }
    return all;
  }

  private static String members(int first, int last) {
    return IntStream.rangeClosed(first, last)
        .mapToObj(i -> String.format(Locale.ROOT, "bar%02d=%02d", i, i))
        .collect(Collectors.joining(","));
  }

  private final int port;
  private final FakeEngine engine;

  private TraceContextSuite(int port, FakeEngine engine) {
    this.port = port;
    this.engine = engine;
  }

  /** Sends all cases; fails on the first whose headers the engine does not receive as expected. */
  public static void check(int proxyPort, FakeEngine engine) {
    TraceContextSuite suite = new TraceContextSuite(proxyPort, engine);
    CONTINUED.forEach(suite::isContinued);
    RESTARTED.forEach(suite::isRestarted);
    for (String traceparent : List.of(SAMPLED, UNSAMPLED)) {
      STATES.forEach(each -> suite.passes(traceparent, each.get(0), each.subList(1, each.size())));
    }
    String value =
        IntStream.rangeClosed(' ', '~')
            .filter(c -> c != ',' && c != '=')
            .mapToObj(c -> String.valueOf((char) c))
            .collect(Collectors.joining());
    for (String key : List.of("abcdefghijklmnopqrstuvwxyz0123456789_-*/", "key@a-z0-9_-*/")) {
      suite.passes(SAMPLED, key + "=" + value, List.of("tracestate: " + key + "=" + value));
    }
    DROPPED.forEach(each -> suite.passes(SAMPLED, "", List.of("tracestate: " + each)));
  }

  private void isContinued(String line) {
    assertThat(traceparent(send(List.of(line))))
        .as("%s", line)
        .matches("00-" + TRACE + "-[0-9a-f]{16}-01")
        .doesNotContain(SPAN);
  }

  private void isRestarted(List<String> lines) {
    EngineRequest received = send(lines);
    assertThat(traceparent(received))
        .as("%s", lines)
        .matches("00-[0-9a-f]{32}-[0-9a-f]{16}-03")
        .doesNotContain(TRACE);
    assertThat(received.headers("tracestate")).as("%s", lines).isEmpty();
  }

  /** Checks that the {@code tracestate} arrives as one header line, or not at all. */
  private void passes(String traceparent, String expected, List<String> states) {
    List<String> lines = new ArrayList<>(states);
    lines.add("traceparent: " + traceparent);
    EngineRequest received = send(lines);
    assertThat(traceparent(received)).as("%s", lines).contains(TRACE);
    assertThat(received.headers("tracestate"))
        .as("%s", lines)
        .isEqualTo(expected.isEmpty() ? List.of() : List.of(expected));
  }

  private static String traceparent(EngineRequest request) {
    assertThat(request.headers("traceparent")).hasSize(1);
    return request.headers("traceparent").get(0);
  }

  private EngineRequest send(List<String> lines) {
    int before = engine.requests().size();
    List<String> head = new ArrayList<>();
    head.add("POST /v1/chat/completions HTTP/1.1");
    head.add("Host: 127.0.0.1:" + port);
    head.add("Content-Type: application/json");
    head.add("Content-Length: " + BODY.length());
    head.addAll(lines);
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.setSoTimeout(TIMEOUT_MILLIS);
      String request = String.join("\r\n", head) + "\r\n\r\n" + BODY;
      socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
      assertThat(read(socket.getInputStream())).as("%s", lines).startsWith("HTTP/1.1 200");
    } catch (IOException e) {
      throw new UncheckedIOException(String.join(", ", lines), e);
    }
    List<EngineRequest> received = engine.requests();
    assertThat(received).hasSize(before + 1);
    return received.get(before);
  }

  private static String read(InputStream in) throws IOException {
    StringBuilder response = new StringBuilder();
    while (!isComplete(response)) {
      int next = in.read();
      if (next < 0) {
        break;
      }
      response.append((char) next);
    }
    return response.toString();
  }

  private static boolean isComplete(StringBuilder response) {
    int body = response.indexOf("\r\n\r\n") + 4;
    if (body < 4) {
      return false;
    }
    Matcher length = LENGTH.matcher(response);
    return length.find()
        ? response.length() - body >= Integer.parseInt(length.group(1))
        : response.indexOf("\r\n0\r\n\r\n", body) >= 0;
  }
}
