package io.inferspan.samples.desk.page;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.google.protobuf.ByteString;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.proto.trace.v1.Status;
import java.util.HexFormat;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class TracePageIT {

  @RegisterExtension static final DeskPage DESK = new DeskPage();

  @Test
  void waterfall_nestsSpans_belowTheExplanation() {
    Page page = opened(Requests.prefillDecode(Requests.MODEL));

    assertThat(page.locator(".why"))
        .hasText(Pattern.compile("first token after .* prefill on .*; then \\d+ tokens, .* apart"));
    assertThat(row(page, "gateway.request")).hasAttribute("aria-level", "1");
    assertThat(row(page, "llm_d.pd_proxy.request")).hasAttribute("aria-level", "2");
    assertThat(row(page, "llm_d.pd_proxy.prefill")).hasAttribute("aria-level", "3");
    assertThat(row(page, "llm_request").first()).hasAttribute("aria-level", "4");
    assertThat(page.locator(".wf-path i").first()).isAttached();
  }

  @Test
  void closedSpan_hidesItsDescendants_andShowsTheirNumber() {
    Page page = opened(Requests.prefillDecode(Requests.MODEL));
    Locator proxy = row(page, "llm_d.pd_proxy.request");

    proxy.locator(".wf-caret").click();

    assertThat(row(page, "llm_d.pd_proxy.prefill")).hasCount(0);
    assertThat(proxy).hasAttribute("aria-expanded", "false");
    assertThat(proxy.locator(".mark")).hasText("+5");
    assertThat(row(page, "llm_d.kv_cache.get_scores")).isVisible();
  }

  @Test
  void anatomy_addsUpToTheTimeToFirstToken() {
    Page page = opened(Requests.prefillDecode(Requests.MODEL));
    Locator panel = page.locator(".anatomy");

    double shown = milliseconds(panel.locator("h2 > b").textContent());
    double sum = milliseconds(panel.locator(".sum-value").textContent());
    double parts =
        panel.locator(".legend b").allTextContents().stream()
            .mapToDouble(TracePageIT::milliseconds)
            .sum();

    assertThat(shown).isEqualTo(Requests.TTFT_MS);
    assertThat(sum).isCloseTo(shown, within(0.05));
    // Each part is rounded to a hundredth of a millisecond.
    assertThat(parts).isCloseTo(shown, within(0.05 + 8 * 0.005));
    assertThat(panel.locator(".sum-off")).hasCount(0);
    double drawn =
        ((Number)
                page.evaluate(
                    "[...document.querySelectorAll('.anatomy-bar .part')].reduce((sum, part) => sum"
                        + " + part.getBoundingClientRect().width, 0) /"
                        + " document.querySelector('.anatomy-bar').clientWidth"))
            .doubleValue();
    assertThat(drawn).as("share of the bar that is filled").isBetween(0.97, 1.001);
  }

  @Test
  void prefillAndDecode_areOnOneTimeline_withTheReason() {
    Page page = opened(Requests.prefillDecode(Requests.MODEL));

    assertThat(page.locator(".pd")).containsText("non cached bytes reach threshold");
    assertThat(page.locator(".pd .lane-bar")).hasCount(2);
    assertThat(page.locator(".pd .lane-mark")).hasCount(1);
  }

  @Test
  void foldedSpan_showsItsCountAndItsLostEvents() {
    Page page = opened(Requests.prefillDecode(Requests.MODEL));
    Locator launches = row(page, "cuda.launch");

    assertThat(launches.locator(".wf-bar")).hasClass(Pattern.compile("folded.*lossy"));
    assertThat(launches.locator(".mark-fold")).hasText("×1,248");
    assertThat(launches.locator(".mark-warn")).hasText("93 % seen");
    assertThat(launches.locator(".wf-took")).hasText("Σ 17.0 ms");
    assertThat(launches.locator(".wf-label")).containsText("Σ 17.0 ms");
    launches.click();
    assertThat(page.locator(".details-head h2")).hasText("cuda.launch");
    assertThat(page.locator(".details-facts").first()).containsText("first to last190 ms");
    assertThat(page.locator(".fold-box")).containsText("4.20 µs");
    assertThat(page.locator(".details .warning")).containsText("93 were lost");
  }

  @Test
  void failedSpan_isMarked_andShowsWhy() {
    Page page = opened(Requests.failedPrefill(Requests.MODEL));
    Locator prefill = row(page, "llm_d.pd_proxy.prefill");

    assertThat(prefill.locator(".mark-error")).hasText("error");
    prefill.click();
    assertThat(page.locator(".details-error")).containsText("connection reset by peer");
  }

  @Test
  void explanation_linksToItsSpan() {
    Page page = opened(Requests.prefillDecode(Requests.MODEL));

    page.locator(".why a").click();

    assertThat(page.locator(".wf-row.selected .wf-name")).hasText("llm_request");
    assertThat(page.locator(".wf-row.selected .wf-service")).hasText("vllm-prefill-pod");
  }

  @Test
  void failedRequest_opensAtTheSpanThatFailed() {
    Page page = opened(Requests.failedPrefill(Requests.MODEL));

    assertThat(page.locator(".wf-row.selected .wf-name")).hasText("llm_d.pd_proxy.prefill");
    assertThat(page.locator(".details-error")).containsText("connection reset by peer");
  }

  @Test
  void spansUnderOnePercentOfTheRequest_areCollapsed_unlessOneFailed() {
    SentTrace trace = new SentTrace();
    Span.Builder root = trace.span("app", "root", ByteString.EMPTY, 0, 1000);
    Span.Builder shortOne = trace.span("app", "short", root.getSpanId(), 1, 5);
    trace.span("app", "below short", shortOne.getSpanId(), 2, 1);
    Span.Builder failing = trace.span("app", "short too", root.getSpanId(), 10, 5);
    trace
        .span("app", "failed", failing.getSpanId(), 11, 1)
        .setStatus(Status.newBuilder().setCode(Status.StatusCode.STATUS_CODE_ERROR));
    Page page = opened(trace);

    assertThat(row(page, "failed")).isVisible();
    assertThat(row(page, "below short")).hasCount(0);
    assertThat(row(page, "short").locator(".mark")).hasText("+1");
    assertThat(row(page, "failed").locator(".mark")).hasText("error");
  }

  @Test
  void spanLink_opensTheOtherTrace() {
    SentTrace other = DESK.send(Requests.decodeOnly("linked"));
    SentTrace trace = new SentTrace();
    trace
        .span("app", "linking", ByteString.EMPTY, 0, 10)
        .addLinks(
            Span.Link.newBuilder()
                .setTraceId(ByteString.copyFrom(HexFormat.of().parseHex(other.id())))
                .setSpanId(ByteString.copyFrom(new byte[] {1, 2, 3, 4, 5, 6, 7, 8})));
    Page page = opened(trace);
    assertThat(row(page, "linking").locator(".mark")).hasText("↗ 1");

    page.locator(".links a").click();

    assertThat(page.locator(".head-model")).hasText("linked");
  }

  @Test
  void spanWithoutItsParent_marksTheTraceAsBroken() {
    SentTrace trace = SentTrace.ago(5_000);
    ByteString lost = ByteString.copyFrom(new byte[] {9, 9, 9, 9, 9, 9, 9, 9});
    trace.span("llm-d-pd-proxy", "llm_d.pd_proxy.request", lost, 0, 10);
    Page page = opened(trace);

    assertThat(row(page, "llm_d.pd_proxy.request").locator(".mark-broken")).hasText("no parent");
    assertThat(page.locator(".warnings")).containsText("broken");
  }

  @Test
  void traceThatGrows_growsOnThePage_andKeepsTheCursor() {
    SentTrace trace = new SentTrace();
    Span.Builder root = trace.span("app", "root", ByteString.EMPTY, 0, 100);
    trace.span("app", "first", root.getSpanId(), 1, 10);
    Page page = opened(trace);
    row(page, "first").click();

    trace.span("app", "second", root.getSpanId(), 20, 10);
    DESK.send(trace);

    assertThat(row(page, "second")).isVisible();
    assertThat(page.locator(".wf-row.selected .wf-name")).hasText("first");
  }

  @Test
  void unknownTrace_showsWhyItMayBeMissing() {
    Page page = DESK.open("#/trace/" + "ab".repeat(16));

    assertThat(page.locator(".notice")).containsText("does not have this trace");
  }

  private static Page opened(SentTrace trace) {
    DESK.send(trace);
    Page page = DESK.open("#/trace/" + trace.id());
    page.locator(".wf-row:not([hidden])").first().waitFor();
    return page;
  }

  private static Locator row(Page page, String name) {
    return page.locator(".wf-row:not([hidden])")
        .filter(new Locator.FilterOptions().setHas(page.locator(".wf-name", exactly(name))));
  }

  private static Page.LocatorOptions exactly(String name) {
    return new Page.LocatorOptions()
        .setHasText(Pattern.compile("^" + name.replace(".", "\\.") + "$"));
  }

  private static double milliseconds(String text) {
    return Double.parseDouble(text.replaceAll("[^0-9.]", ""));
  }
}
