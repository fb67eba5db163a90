package io.inferspan.samples.desk.page;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.google.protobuf.ByteString;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.trace.v1.Span;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Requests in the same engine at the same time. Each test uses its own engine. */
class BatchPageIT {

  private static final long START_MILLIS = System.currentTimeMillis();

  @RegisterExtension static final DeskPage DESK = new DeskPage();

  private final List<SentTrace> steps = new ArrayList<>();

  @Test
  void requestsInTheEngine_areListed_longestOverlapFirst() {
    SentTrace mine = request("engine-a", "mine", 0);
    DESK.send(request("engine-a", "brief", 60));
    DESK.send(request("engine-a", "long", 20));
    DESK.send(request("engine-a", "later", 500));
    DESK.send(request("engine-elsewhere", "elsewhere", 0));
    Page page = batchOf(mine);

    assertThat(page.locator("#tab-batch")).hasText("Shared batch (2)");
    assertThat(listed(page)).hasCount(2);
    assertThat(listed(page).nth(0)).containsText("long");
    assertThat(listed(page).nth(0).locator("b")).hasText("80.0 ms");
    assertThat(listed(page).nth(1)).containsText("brief");
    assertThat(listed(page).nth(1).locator("b")).hasText("40.0 ms");
    assertThat(width(listed(page).nth(1)) / width(listed(page).nth(0)))
        .isCloseTo(0.5, within(0.02));
  }

  @Test
  void listedRequest_linksToItsTrace() {
    SentTrace mine = request("engine-b", "mine", 0);
    SentTrace other = DESK.send(request("engine-b", "other", 10));
    Page page = batchOf(mine);

    assertThat(listed(page).locator(".batch-name a")).hasAttribute("href", "#/trace/" + other.id());
    listed(page).locator(".batch-name a").click();

    assertThat(page).hasURL(Pattern.compile("#/trace/" + other.id()));
    assertThat(page.locator(".head-model")).hasText("other");
    assertThat(page.locator(".wf-row.selected")).isVisible();
  }

  @Test
  void listedRequest_canBeCompared() {
    SentTrace mine = request("engine-c", "mine", 0);
    SentTrace other = DESK.send(request("engine-c", "other", 10));
    Page page = batchOf(mine);

    listed(page).locator(".batch-compare").click();

    assertThat(page).hasURL(Pattern.compile("#/compare/" + mine.id() + "/" + other.id()));
    assertThat(page.locator(".side")).hasCount(2);
  }

  @Test
  void linkedRequest_isListedOnce_asLinked() {
    SentTrace other = DESK.send(request("engine-d", "named", 10));
    SentTrace mine = SentTrace.at(START_MILLIS);
    Span.Builder root = mine.span("app", "app.request", ByteString.EMPTY, 0, 100);
    mine.span("engine-d", "llm_request", root.getSpanId(), 0, 100)
        .addLinks(
            Span.Link.newBuilder()
                .setTraceId(ByteString.copyFrom(HexFormat.of().parseHex(other.id())))
                .setSpanId(ByteString.copyFrom(new byte[] {1, 2, 3, 4, 5, 6, 7, 8})));
    Page page = batchOf(mine);

    assertThat(listed(page)).hasCount(1);
    assertThat(listed(page).locator("b"))
        .hasAttribute("title", "Reported by the engine: its spans are linked.");
  }

  @Test
  void requestAloneInItsEngine_isShownAsAlone() {
    Page page = open(DESK.send(request("engine-e", "alone", 0)));

    Locator tab = page.locator("#tab-batch");
    assertThat(tab).hasAttribute("aria-disabled", "true");
    assertThat(tab).hasAttribute("title", "No other request was in the engine at the same time.");
    page.keyboard().press("b");
    assertThat(page.locator(".batch")).hasCount(0);
  }

  @Test
  void engineThatReportsSteps_showsWhyTheRequestWaited() {
    SentTrace heavy = request("gateway", "heavy", 0);
    SentTrace mine = request("gateway", "mine", 0);
    ByteString call = mine.span("gateway", "call", ByteString.EMPTY, 1, 99).getSpanId();
    phase(mine, "queue", call, 2, 8);
    share(phase(mine, "prefill", call, 10, 10), 1, 30, 4.0, 10.0);
    share(phase(mine, "decode", call, 20, 60), 3, 3, 6.0, 60.0);
    DESK.send(heavy);
    step(1, 10, 10, 1).addLinks(member(mine, call, 30));
    step(2, 20, 10, 0).addLinks(member(mine, call, 0));
    step(3, 30, 40, 1).addLinks(member(mine, call, 0)).addLinks(member(heavy, call, 400));
    step(4, 70, 10, 0).addLinks(member(mine, call, 0));
    steps.forEach(DESK::send);
    Page page = batchOf(mine);

    assertThat(page.locator("#tab-batch")).hasText("Shared batch (1)");
    assertThat(page.locator(".batch-lanes .lane-name"))
        .hasText(new String[] {"queue", "prefill", "decode"});
    assertThat(page.locator(".batch-lanes .lane").nth(2))
        .containsText("60.0 ms3 steps · 3 tokens · GPU 6.00 ms of 60.0 ms (10 %)");
    assertThat(page.locator(".batch .pd-facts")).containsText("steps here4 of 4");
    assertThat(page.locator(".batch .pd-facts")).containsText("stalled1 step, 30.0 ms");
    assertThat(page.locator(".batch-culprit"))
        .hasText("app.request made this request wait most: 30.0 ms, by 400 tokens of its prompt.");
    assertThat(listed(page)).hasCount(1);
    assertThat(listed(page).locator("b")).hasText("1 step");
    assertThat(listed(page).locator(".batch-name a")).hasAttribute("href", "#/trace/" + heavy.id());
  }

  private static Span.Builder phase(
      SentTrace trace, String name, ByteString call, double atMs, double tookMs) {
    return SentTrace.with(
        trace.span(Requests.AGENT, "llm_d.engine." + name, call, atMs, tookMs),
        "attribution.coverage",
        1.0);
  }

  private static void share(
      Span.Builder phase, long steps, long tokens, double shareMs, double busyMs) {
    SentTrace.with(phase, "llm_d.engine.steps", steps);
    SentTrace.with(phase, "llm_d.engine.tokens", tokens);
    SentTrace.with(phase, "llm_d.engine.share_ms", shareMs);
    SentTrace.with(phase, "busy.ms", busyMs);
    SentTrace.with(phase, "attribution.model", "prefill_weighted");
    SentTrace.with(phase, "attribution.error_bound_ms", busyMs - shareMs);
  }

  private Span.Builder step(long number, double atMs, double busyMs, long prefills) {
    SentTrace trace = SentTrace.at(START_MILLIS);
    steps.add(trace);
    Span.Builder step =
        trace.span(Requests.AGENT, "llm_d.engine.step", ByteString.EMPTY, atMs, busyMs);
    SentTrace.with(step, "process.pid", 77L);
    SentTrace.with(step, "llm_d.engine.step.number", number);
    SentTrace.with(step, "llm_d.engine.step.members", 1 + (number == 3 ? 1L : 0L));
    SentTrace.with(step, "llm_d.engine.step.members.prefill", prefills);
    return SentTrace.with(step, "busy.ms", busyMs);
  }

  private static Span.Link.Builder member(SentTrace trace, ByteString call, long prompt) {
    Span.Link.Builder link =
        Span.Link.newBuilder()
            .setTraceId(ByteString.copyFrom(HexFormat.of().parseHex(trace.id())))
            .setSpanId(call);
    if (prompt > 0) {
      link.addAttributes(
          KeyValue.newBuilder()
              .setKey("llm_d.engine.tokens")
              .setValue(AnyValue.newBuilder().setIntValue(prompt)));
    }
    return link;
  }

  /** Returns a request that is in the engine for 100 ms, from {@code atMs} after a common start. */
  private static SentTrace request(String engine, String model, double atMs) {
    SentTrace trace = SentTrace.at(START_MILLIS);
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

  private static Locator listed(Page page) {
    return page.locator(".batch-list li");
  }

  private static double width(Locator row) {
    return Objects.requireNonNull(row.locator(".batch-track i").boundingBox()).width;
  }
}
