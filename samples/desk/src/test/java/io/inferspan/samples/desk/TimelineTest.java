package io.inferspan.samples.desk;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.samples.desk.otlp.TestSpan;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the timelines of cold starts over real sockets. */
class TimelineTest {

  private static final int MAX_BYTES = 4 << 20;

  private final RunningDesk desk = RunningDesk.start();

  @AfterEach
  void close() {
    desk.close();
  }

  @Test
  void timeline_isServedInASeparateOrigin_andItsTraceRefersToIt() throws Exception {
    TestSpan start =
        TestSpan.named("llm_d.model_server.cold_start", "agent").id(1, 1, 0).at(0, 100);
    assertThat(desk.export(TestSpan.export(start)).statusCode()).isEqualTo(200);
    String id = TestSpan.traceIdText(1);
    assertThat(trace(id)).doesNotContainKey("timeline");
    byte[] page = {31, 1, 2};

    assertThat(put(id, page, "gzip")).isEqualTo(204);

    assertThat(trace(id)).containsEntry("timeline", true);
    HttpResponse<byte[]> served =
        desk.client()
            .send(
                HttpRequest.newBuilder(timeline(id)).build(),
                HttpResponse.BodyHandlers.ofByteArray());
    assertThat(served.body()).isEqualTo(page);
    assertThat(served.headers().firstValue("content-encoding")).hasValue("gzip");
    assertThat(served.headers().firstValue("content-type")).hasValue("text/html; charset=utf-8");
    assertThat(served.headers().firstValue("content-security-policy").orElse(""))
        .startsWith("sandbox allow-scripts; default-src 'none'");
  }

  @Test
  void oldestTimelines_areDropped() throws Exception {
    byte[] page = new byte[MAX_BYTES];
    for (int trace = 1; trace <= 5; trace++) {
      assertThat(put(TestSpan.traceIdText(trace), page, "gzip")).isEqualTo(204);
    }
    assertThat(put(TestSpan.traceIdText(5), page, "gzip")).isEqualTo(204);

    assertThat(desk.get("/timelines/" + TestSpan.traceIdText(1)).statusCode()).isEqualTo(404);
    assertThat(desk.get("/timelines/" + TestSpan.traceIdText(2)).statusCode()).isEqualTo(200);
    assertThat(RunningDesk.object(desk.get("/api/stats").body()).get("dropped"))
        .isEqualTo(Map.of("oldest_timeline", 1.0));
  }

  @Test
  void otherRequests_areRefused() throws Exception {
    String id = TestSpan.traceIdText(1);

    assertThat(put("none", new byte[1], "gzip")).isEqualTo(404);
    assertThat(put(id, new byte[1], "identity")).isEqualTo(415);
    assertThat(put(id, new byte[MAX_BYTES + 1], "gzip")).isEqualTo(413);
    HttpRequest unbounded =
        HttpRequest.newBuilder(timeline(id))
            .header("content-encoding", "gzip")
            .PUT(
                HttpRequest.BodyPublishers.fromPublisher(
                    HttpRequest.BodyPublishers.ofByteArray(new byte[1])))
            .build();
    assertThat(status(unbounded)).isEqualTo(413);
    assertThat(status(HttpRequest.newBuilder(timeline(id)).DELETE().build())).isEqualTo(405);
    assertThat(desk.get("/timelines/" + id).statusCode()).isEqualTo(404);
  }

  private int put(String trace, byte[] page, String encoding)
      throws IOException, InterruptedException {
    return status(
        HttpRequest.newBuilder(timeline(trace))
            .header("content-encoding", encoding)
            .PUT(HttpRequest.BodyPublishers.ofByteArray(page))
            .build());
  }

  private int status(HttpRequest request) throws IOException, InterruptedException {
    return desk.client().send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
  }

  private URI timeline(String trace) {
    return URI.create("http://127.0.0.1:" + desk.port() + "/timelines/" + trace);
  }

  private Map<String, Object> trace(String id) throws IOException, InterruptedException {
    return RunningDesk.object(desk.get("/api/traces/" + id).body());
  }
}
