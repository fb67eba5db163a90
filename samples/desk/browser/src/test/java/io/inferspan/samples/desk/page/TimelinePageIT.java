package io.inferspan.samples.desk.page;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The timeline of a cold start, which the eBPF bridge sends to the desk. */
class TimelinePageIT {

  /** A page whose script runs but has no access to the desk. */
  private static final String TIMELINE =
      """
      <!DOCTYPE html><html lang="en"><title>Cold start</title><body><p></p><script>
      const said = [];
      try { said.push(document.cookie); } catch (refused) { said.push('no cookies'); }
      fetch('/api/stats').then(() => said.push('read'), () => said.push('not read'))
        .finally(() => { document.querySelector('p').textContent = self.origin + ', ' + said.join(', '); });
      </script></body></html>
      """;

  @RegisterExtension static final DeskPage DESK = new DeskPage();

  @Test
  void traceOfAStart_linksToItsTimeline() throws Exception {
    SentTrace start = coldStart();
    upload(start.id());
    Page page = DESK.open("#/trace/" + DESK.send(start).id());

    Locator link = page.locator("a:text-is('Timeline')");
    assertThat(link).hasAttribute("href", "/timelines/" + start.id());
    Page timeline = page.waitForPopup(link::click);

    assertThat(timeline.locator("p")).hasText("null, no cookies, not read");
  }

  @Test
  void otherTrace_hasNoTimeline() {
    Page page = DESK.open("#/trace/" + DESK.send(coldStart()).id());

    assertThat(page.locator(".actions")).isVisible();
    assertThat(page.locator("a:text-is('Timeline')")).hasCount(0);
  }

  @Test
  void start_isNotARequest_andItsPhasesAreShownWithTheirTimes() {
    Page page = DESK.open("#/trace/" + DESK.send(coldStart()).id());

    Locator imports = page.locator("[role=treeitem]").nth(1);
    assertThat(imports).containsText("imports");
    assertThat(imports.locator(".wf-label")).hasText("1.20 s");
    assertThat(page.locator(".panels")).hasCount(0);
  }

  private static SentTrace coldStart() {
    SentTrace trace = new SentTrace();
    ByteString root =
        trace
            .span(Requests.AGENT, "llm_d.model_server.cold_start", ByteString.EMPTY, 0, 4000)
            .getSpanId();
    SentTrace.with(
        trace.span(Requests.AGENT, "llm_d.model_server.cold_start.imports", root, 100, 1200),
        "inferspan.ebpf.count",
        23L);
    return trace;
  }

  private static void upload(String trace) throws IOException, InterruptedException {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    try (OutputStream gzip = new GZIPOutputStream(body)) {
      gzip.write(TIMELINE.getBytes(UTF_8));
    }
    try (HttpClient client = HttpClient.newHttpClient()) {
      HttpRequest put =
          HttpRequest.newBuilder(DESK.desk().page().resolve("/timelines/" + trace))
              .header("content-encoding", "gzip")
              .PUT(HttpRequest.BodyPublishers.ofByteArray(body.toByteArray()))
              .build();
      assertThat(client.send(put, HttpResponse.BodyHandlers.discarding()).statusCode())
          .isEqualTo(204);
    }
  }
}
