package io.inferspan.samples.desk.page;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.google.protobuf.ByteString;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import io.opentelemetry.proto.trace.v1.Span;
import java.util.HexFormat;
import java.util.Objects;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Requests that were in one engine at once. Each test has an engine of its own. */
class BatchPageTest {

  private static final long BEGUN = System.currentTimeMillis();

  @RegisterExtension static final DeskPage DESK = new DeskPage();

  @Test
  void sharersOfTheEngine_areListed_theLongestFirst() {
    SentTrace mine = request("engine-a", "mine", 0);
    DESK.send(request("engine-a", "brief", 60));
    DESK.send(request("engine-a", "long", 20));
    DESK.send(request("engine-a", "later", 500));
    DESK.send(request("engine-elsewhere", "elsewhere", 0));
    Page page = batchOf(mine);

    assertThat(page.locator("#tab-batch")).hasText("Shared batch (2)");
    assertThat(sharers(page)).hasCount(2);
    assertThat(sharers(page).nth(0)).containsText("long");
    assertThat(sharers(page).nth(0).locator("b")).hasText("80.0 ms");
    assertThat(sharers(page).nth(1)).containsText("brief");
    assertThat(sharers(page).nth(1).locator("b")).hasText("40.0 ms");
    assertThat(width(sharers(page).nth(1)) / width(sharers(page).nth(0)))
        .isCloseTo(0.5, within(0.02));
  }

  @Test
  void sharer_leadsToItsTrace() {
    SentTrace mine = request("engine-b", "mine", 0);
    SentTrace other = DESK.send(request("engine-b", "other", 10));
    Page page = batchOf(mine);

    assertThat(sharers(page).locator(".batch-name a"))
        .hasAttribute("href", "#/trace/" + other.id());
    sharers(page).locator(".batch-name a").click();

    assertThat(page).hasURL(Pattern.compile("#/trace/" + other.id()));
    assertThat(page.locator(".head-model")).hasText("other");
    assertThat(page.locator(".wf-row.selected")).isVisible();
  }

  @Test
  void sharer_isComparedWith() {
    SentTrace mine = request("engine-c", "mine", 0);
    SentTrace other = DESK.send(request("engine-c", "other", 10));
    Page page = batchOf(mine);

    sharers(page).locator(".batch-compare").click();

    assertThat(page).hasURL(Pattern.compile("#/compare/" + mine.id() + "/" + other.id()));
    assertThat(page.locator(".side")).hasCount(2);
  }

  @Test
  void sharerThatTheEngineNames_isListedOnce_andSaidToBeNamed() {
    SentTrace other = DESK.send(request("engine-d", "named", 10));
    SentTrace mine = SentTrace.at(BEGUN);
    Span.Builder root = mine.span("app", "app.request", ByteString.EMPTY, 0, 100);
    mine.span("engine-d", "llm_request", root.getSpanId(), 0, 100)
        .addLinks(
            Span.Link.newBuilder()
                .setTraceId(ByteString.copyFrom(HexFormat.of().parseHex(other.id())))
                .setSpanId(ByteString.copyFrom(new byte[] {1, 2, 3, 4, 5, 6, 7, 8})));
    Page page = batchOf(mine);

    assertThat(sharers(page)).hasCount(1);
    assertThat(sharers(page).locator("b"))
        .hasAttribute("title", "The engine says so: its spans are linked.");
  }

  @Test
  void requestThatWasAlone_saysSo() {
    Page page = open(DESK.send(request("engine-e", "alone", 0)));

    Locator tab = page.locator("#tab-batch");
    assertThat(tab).hasAttribute("aria-disabled", "true");
    assertThat(tab).hasAttribute("title", "No other request was in the engine at the same time.");
    page.keyboard().press("b");
    assertThat(page.locator(".batch")).hasCount(0);
  }

  /** In the engine for 100 ms, from then on; all begin from one moment. */
  private static SentTrace request(String engine, String model, double atMs) {
    SentTrace trace = SentTrace.at(BEGUN);
    Span.Builder root = trace.span("app", "app.request", ByteString.EMPTY, 0, atMs + 100);
    SentTrace.with(root, "gen_ai.request.model", model);
    trace.span(engine, "llm_request", root.getSpanId(), atMs, 100);
    return trace;
  }

  private static Page batchOf(SentTrace trace) {
    Page page = open(DESK.send(trace));
    page.keyboard().press("b");
    assertThat(page.locator("#tab-batch")).hasAttribute("aria-selected", "true");
    return page;
  }

  private static Page open(SentTrace trace) {
    Page page = DESK.open("#/trace/" + trace.id());
    page.locator(".wf-row.selected").waitFor();
    return page;
  }

  private static Locator sharers(Page page) {
    return page.locator(".batch-list li");
  }

  private static double width(Locator sharer) {
    return Objects.requireNonNull(sharer.locator(".batch-track i").boundingBox()).width;
  }
}
