package io.inferspan.samples.desk;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.catalog.EngineSpans;
import io.inferspan.catalog.EppSpans;
import io.inferspan.catalog.GatewaySpans;
import io.inferspan.samples.desk.otlp.TestSpan;
import io.inferspan.semconv.EppAttributes;
import io.inferspan.semconv.GenAiAttributes;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the page's API over real sockets. */
class DeskTest {

  private static final int BATCHES_UNREAD = 60;

  private final RunningDesk desk = RunningDesk.start();

  @AfterEach
  void close() {
    desk.close();
  }

  private static TestSpan request(long trace) {
    return TestSpan.of(GatewaySpans.REQUEST, "", "llm-gateway")
        .id(trace, 1, 0)
        .at(0, 100)
        .with(GenAiAttributes.REQUEST_MODEL, "tiny");
  }

  private void send(TestSpan... spans) throws IOException, InterruptedException {
    assertThat(desk.export(TestSpan.export(spans)).statusCode()).isEqualTo(200);
  }

  @Test
  void page_isServedUnderAStrictPolicy() throws Exception {
    HttpResponse<String> page = desk.get("/");

    assertThat(page.statusCode()).isEqualTo(200);
    assertThat(page.headers().firstValue("content-type")).hasValue("text/html; charset=utf-8");
    assertThat(page.headers().firstValue("content-security-policy").orElse(""))
        .contains("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'")
        .doesNotContain("unsafe");
    assertThat(page.headers().firstValue("x-content-type-options")).hasValue("nosniff");
    assertThat(page.headers().firstValue("referrer-policy")).hasValue("no-referrer");
  }

  @Test
  void everyScriptOfThePage_isServed() throws Exception {
    List<String> scripts =
        Pattern.compile("<script [^>]*src=\"([^\"]+)\"")
            .matcher(desk.get("/").body())
            .results()
            .map(match -> match.group(1))
            .toList();

    assertThat(scripts).contains("/lib/d3-scale.js", "/app/main.js");
    for (String script : scripts) {
      HttpResponse<String> answer = desk.get(script);
      assertThat(answer.statusCode()).as(script).isEqualTo(200);
      String tag = answer.headers().firstValue("etag").orElse("");
      assertThat(desk.get(script, "if-none-match", tag).statusCode()).as(script).isEqualTo(304);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/app/../index.html",
        "/app/%2e%2e/index.html",
        "/app/none.js",
        "/io/inferspan/samples/desk/Desk.class",
        "/META-INF/MANIFEST.MF",
        "/lib/other.js",
        "/api/none",
        "/api/traces/none",
      })
  void unknownPath_isNotFound(String path) throws Exception {
    assertThat(desk.get(path).statusCode()).isEqualTo(404);
  }

  @ParameterizedTest
  @CsvSource({
    "localhost:1, 200",
    "127.0.0.1, 200",
    "[::1]:8900, 200",
    "evil.example, 403",
    "localhost.evil.example, 403",
    "127.0.0.1.evil.example, 403",
  })
  void foreignHostName_isRefused(String host, int status) throws Exception {
    assertThat(statusFor("GET /api/stats HTTP/1.1\r\nHost: " + host)).isEqualTo(status);
  }

  private int statusFor(String head) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), desk.port())) {
      socket
          .getOutputStream()
          .write((head + "\r\nConnection: close\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
      String line = new String(socket.getInputStream().readNBytes(12), StandardCharsets.US_ASCII);
      return Integer.parseInt(line.substring(9));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"limit=x", "limit=0", "before=-1", "minMs=NaN", "minTtftMs=-1", "status=fine"})
  void invalidParameter_isReportedInOneSentence(String query) throws Exception {
    HttpResponse<String> answer = desk.get("/api/requests?" + query);

    assertThat(answer.statusCode()).isEqualTo(400);
    assertThat(RunningDesk.object(answer.body()).get("error"))
        .asString()
        .startsWith(query.substring(0, query.indexOf('=')) + " must be");
  }

  @Test
  void history_hasTheDecisions() throws Exception {
    send(
        request(1),
        TestSpan.of(EppSpans.PROFILE_HANDLER, "", "llm-gateway")
            .id(1, 2, 1)
            .at(1, 2)
            .with(EppAttributes.DECISION, "decode_only")
            .with(EppAttributes.PD_THRESHOLD, 1024L),
        TestSpan.named("other", "shop").id(2, 1, 0).at(0, 1));

    List<Map<String, Object>> decisions =
        RunningDesk.list(RunningDesk.object(desk.get("/api/history").body()), "decisions");

    assertThat(decisions).hasSize(1);
    assertThat(decisions.getFirst())
        .containsEntry("decision", "decode_only")
        .containsEntry("route", "decode")
        .containsEntry("pdThreshold", 1024.0)
        .doesNotContainKey("nonCachedBytes");
  }

  @Test
  void history_countsAllRequestsByTimeAndPod() throws Exception {
    send(request(1), TestSpan.named("other", "shop").id(2, 1, 0).at(0, 1).error("x"));

    Map<String, Object> all = RunningDesk.object(desk.get("/api/history").body());
    Map<String, Object> none = RunningDesk.object(desk.get("/api/history?pod=x").body());

    assertThat(RunningDesk.list(all, "slices").getFirst())
        .containsEntry("requests", 2.0)
        .containsEntry("failed", 1.0);
    assertThat(all).containsEntry("pods", List.of("unknown"));
    assertThat(RunningDesk.list(none, "slices").getFirst()).containsEntry("requests", 0.0);
  }

  @Test
  void killedProcess_breaksItsTraceWithinTwoSeconds() throws Exception {
    send(TestSpan.named("step", "shop").id(1, 5, 4).at(0, 1));
    long sent = System.nanoTime();
    assertThat(RunningDesk.list(RunningDesk.object(desk.get("/api/requests").body()), "requests"))
        .singleElement()
        .extracting("status")
        .isEqualTo("open");

    desk.await(
        "/api/requests?status=broken", list -> RunningDesk.member(list, "matched").equals(1.0));

    assertThat(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - sent)).isBetween(1_000L, 2_000L);
  }

  @Test
  void requestsInTheSameEngine_areFoundByOverlapAndByLink() throws Exception {
    send(
        engine("vllm", 1, 0, 100),
        engine("vllm", 2, 50, 150),
        engine("vllm", 3, 200, 300),
        engine("other", 4, 0, 100),
        engine("vllm", 5, 400, 500).link(3, 1));

    desk.get("/api/requests");
    assertThat(batch(1)).containsExactly(TestSpan.traceIdText(2) + " 50.0 overlap");
    assertThat(batch(5)).containsExactly(TestSpan.traceIdText(3) + " 0.0 link");
    assertThat(batch(4)).isEmpty();
  }

  private static TestSpan engine(String service, long trace, double start, double end) {
    return TestSpan.of(EngineSpans.LLM_REQUEST, "", service).id(trace, 1, 0).at(start, end);
  }

  private List<String> batch(long trace) throws IOException, InterruptedException {
    String json = desk.get("/api/traces/" + TestSpan.traceIdText(trace)).body();
    return RunningDesk.list(RunningDesk.object(json), "batch").stream()
        .map(
            sharer ->
                sharer.get("traceId") + " " + sharer.get("overlapMs") + " " + sharer.get("by"))
        .toList();
  }

  /** A client that reads the live feed. */
  private final class Reader implements AutoCloseable {
    private final Socket socket = new Socket();
    private final BufferedReader in;

    Reader() throws IOException {
      socket.setReceiveBufferSize(128 * 1024);
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), desk.port()));
      socket.setSoTimeout(10_000);
      socket
          .getOutputStream()
          .write(
              "GET /api/live HTTP/1.1\r\nHost: localhost\r\n\r\n"
                  .getBytes(StandardCharsets.US_ASCII));
      in =
          new BufferedReader(
              new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
    }

    /** Returns the data of the next event with this name. */
    String next(String event) throws IOException {
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
      String line = in.readLine();
      while (line != null && !line.equals("event: " + event)) {
        if (System.nanoTime() > end) {
          throw new AssertionError("no event " + event + " arrived within 10 s");
        }
        line = in.readLine();
      }
      return String.valueOf(in.readLine()).substring("data: ".length());
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }

  @Test
  void change_isSentToOpenPages() throws Exception {
    try (Reader reader = new Reader()) {
      reader.next("stats");
      send(request(9));

      assertThat(reader.next("requests")).contains(TestSpan.traceIdText(9), "\"model\":\"tiny\"");
      assertThat(reader.next("stats")).contains("\"spans\":1");
    }
  }

  @Test
  void slowReader_getsTheLatestChangesWhenItReadsAgain() throws Exception {
    try (Reader reader = new Reader()) {
      reader.next("stats");
      long last = 0;
      for (int batch = 0; batch < BATCHES_UNREAD; batch++) {
        List<TestSpan> spans = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
          spans.add(
              request(++last)
                  .with(GenAiAttributes.REQUEST_MODEL, "m".repeat(250))
                  .with(GenAiAttributes.REQUEST_ID, "r".repeat(250)));
        }
        send(spans.toArray(TestSpan[]::new));
        // Longer than the desk waits before it announces a change.
        TimeUnit.MILLISECONDS.sleep(120);
      }
      String wanted = TestSpan.traceIdText(last);
      int events = 1;
      while (!reader.next("requests").contains(wanted)) {
        events++;
      }
      // The desk skipped the batches for which the reader had no room.
      assertThat(events).isLessThan(BATCHES_UNREAD / 2);
    }
  }

  @Test
  void tooManyReaders_areRefused() throws Exception {
    List<Reader> readers = new ArrayList<>();
    try {
      for (int i = 0; i < 64; i++) {
        Reader reader = new Reader();
        readers.add(reader);
        reader.next("stats");
      }
      assertThat(statusFor("GET /api/live HTTP/1.1\r\nHost: localhost")).isEqualTo(503);
    } finally {
      for (Reader reader : readers) {
        reader.close();
      }
    }
  }

  @Test
  void request_isExplainedByEitherId() throws Exception {
    send(EngineSteps.all().toArray(TestSpan[]::new));
    desk.await("/api/requests?q=mine", json -> Double.valueOf(1).equals(json.get("matched")));
    HttpResponse<String> byName = desk.get("/api/explain?id=mine");

    assertThat(byName.headers().firstValue("content-type")).hasValue("text/plain; charset=utf-8");
    assertThat(byName.body())
        .contains(
            "mine (tiny)",
            "  queue        18.0 ms\n",
            "4 steps, 4 tokens, GPU 8.0 of 70.0 ms (11 %, ± 62.0 ms by prefill_weighted)",
            "5 of 5 steps were received; up to 3 requests in a step, up to 1 of them untraced.",
            "Stalled in 1 decode step with prompts of other requests: 30.0 ms in all.",
            "heavy (tiny) made it wait longest: 42.0 ms, for 500 tokens of that request's prompt.");
    assertThat(desk.get("/api/explain?id=" + TestSpan.traceIdText(EngineSteps.MINE)).body())
        .isEqualTo(byName.body());
    assertThat(desk.get("/api/explain?id=none").statusCode()).isEqualTo(404);
    assertThat(desk.get("/api/explain").statusCode()).isEqualTo(400);
  }

  @Test
  void explanation_hasNoEscapeSequences() throws Exception {
    send(request(5).with(GenAiAttributes.REQUEST_ID, "\u001b[2Jred"));

    String text = desk.get("/api/explain?id=" + TestSpan.traceIdText(5)).body();

    assertThat(text).contains("?[2Jred").doesNotContain("\u001b");
  }
}
