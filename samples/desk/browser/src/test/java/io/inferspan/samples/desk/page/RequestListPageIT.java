package io.inferspan.samples.desk.page;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;

import com.google.protobuf.ByteString;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Route;
import com.microsoft.playwright.assertions.LocatorAssertions.HasTextOptions;
import com.microsoft.playwright.options.ColorScheme;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class RequestListPageIT {

  @RegisterExtension static final DeskPage DESK = new DeskPage();

  /** Lets a test decide when updates arrive. */
  private static final String KEEP_THE_FEED =
      """
      window.EventSource = class extends EventSource {
        constructor(address) {
          super(address);
          window.feed = this;
        }
      };
      """;

  @Test
  void newRequest_appearsWithoutReload() {
    Page page = DESK.open("#/");
    assertThat(page.locator("#link-state")).hasText("live");

    SentTrace trace = DESK.send(Requests.prefillDecode(Requests.MODEL));

    Locator row = row(page, trace);
    assertThat(row).isVisible();
    assertThat(row.locator(".r-model")).hasText(Requests.MODEL);
    assertThat(row.locator(".c-ttft")).hasText("60.0 ms");
    assertThat(row.locator(".c-took")).hasText("250 ms");
    assertThat(row.locator(".r-why")).hasText(Pattern.compile(".+"));
  }

  @Test
  void scrolledList_doesNotMove_untilTheUserShowsNewRequests() {
    SentTrace third = DESK.send(Requests.decodeOnly("placed"));
    DESK.send(Requests.decodeOnly("placed"));
    Page page = DESK.open("#/");
    assertThat(row(page, third)).isVisible();
    row(page, third).locator("a.open").focus();
    double before = row(page, third).boundingBox().y;

    SentTrace news = DESK.send(Requests.decodeOnly("news"));

    assertThat(page.locator(".fresh")).isVisible();
    assertThat(row(page, news)).hasCount(0);
    org.assertj.core.api.Assertions.assertThat(row(page, third).boundingBox().y).isEqualTo(before);
    page.locator(".fresh").click();
    assertThat(row(page, news)).isVisible();
  }

  @Test
  void scrolledList_doesNotMove_whenTheFeedConnects() {
    SentTrace first = DESK.send(Requests.decodeOnly("unconnected"));
    DESK.send(Requests.decodeOnly("unconnected"));
    Page page = DESK.open("#/");
    List<Route> held = new ArrayList<>();
    page.route("**/api/live", first(held::add));
    page.reload();
    link(page, first).focus();

    SentTrace news = DESK.send(Requests.decodeOnly("unconnected"));
    held.getFirst().resume();

    assertThat(page.locator(".fresh")).hasText("1 new ↑");
    assertThat(row(page, news)).hasCount(0);
    page.locator(".fresh").click();
    assertThat(row(page, news)).isVisible();
    assertThat(page.locator(".fresh")).isHidden();
  }

  @Test
  void pausedList_showsNewRequestsWhenResumed() {
    Page page = DESK.open("#/");
    assertThat(page.locator("#link-state")).hasText("live");
    page.keyboard().press("p");

    SentTrace trace = DESK.send(Requests.decodeOnly("held back"));

    assertThat(page.locator(".fresh")).isVisible();
    assertThat(row(page, trace)).hasCount(0);
    page.keyboard().press("p");
    assertThat(row(page, trace)).isVisible();
  }

  @Test
  void pausedList_withAFilter_countsMatches_andShowsThemWhenResumed() {
    SentTrace first = DESK.send(Requests.decodeOnly("filtered-held"));
    Page page = DESK.open("#/?q=filtered-held");
    assertThat(row(page, first)).isVisible();
    assertThat(page.locator("#link-state")).hasText("live");
    page.keyboard().press("p");

    SentTrace second = DESK.send(Requests.decodeOnly("filtered-held"));
    SentTrace other = DESK.send(Requests.decodeOnly("of another model"));

    assertThat(page.locator(".fresh")).hasText("1 new ↑");
    assertThat(row(page, second)).hasCount(0);
    // From now on, no update makes the page send a query.
    page.keyboard().press("p");
    assertThat(row(page, second)).isVisible();
    assertThat(row(page, other)).hasCount(0);
    assertThat(page.locator(".fresh")).isHidden();
  }

  @Test
  void scrolledList_withAFilter_announcesNewRequests() {
    SentTrace below = DESK.send(Requests.decodeOnly("filtered-below"));
    DESK.send(Requests.decodeOnly("filtered-below"));
    Page page = DESK.open("#/?q=filtered-below");
    link(page, below).focus();

    SentTrace news = DESK.send(Requests.decodeOnly("filtered-below"));

    assertThat(page.locator(".fresh")).hasText("1 new ↑");
    assertThat(row(page, news)).hasCount(0);
    page.locator(".fresh").click();
    assertThat(row(page, news)).isVisible();
    assertThat(page.locator(".fresh")).isHidden();
  }

  @Test
  void showingNewRequests_scrollsToThem() {
    for (int i = 0; i < 40; i++) {
      DESK.send(Requests.decodeOnly("filtered-long"));
    }
    Page page = DESK.open("#/?q=filtered-long");
    assertThat(page.locator(".request:not(.head)")).hasCount(40);
    page.evaluate("window.scrollTo(0, 600)");

    SentTrace news = DESK.send(Requests.decodeOnly("filtered-long"));

    assertThat(page.locator(".fresh")).hasText("1 new ↑");
    page.locator(".fresh").click();
    assertThat(row(page, news)).isInViewport();
  }

  @Test
  void search_findsByModelAndByTraceId_andStaysInTheAddress() {
    SentTrace sought = DESK.send(Requests.decodeOnly("mistral-sought"));
    SentTrace other = DESK.send(Requests.decodeOnly("other"));
    Page page = DESK.open("#/");
    assertThat(row(page, other)).isVisible();

    page.locator("#search").fill("mistral-sought");
    assertThat(row(page, other)).hasCount(0);
    assertThat(row(page, sought)).isVisible();
    assertThat(page).hasURL(Pattern.compile("q=mistral-sought"));

    page.locator("#search").fill(sought.id().substring(0, 12));
    assertThat(row(page, sought)).isVisible();
    page.reload();
    assertThat(row(page, sought)).isVisible();
    assertThat(page.locator(".request:not(.head)")).hasCount(1);
  }

  @Test
  void typedFilter_isApplied_evenIfRequestsArriveMeanwhile() {
    SentTrace before = DESK.send(Requests.decodeOnly("typed-before"));
    SentTrace after = DESK.send(Requests.decodeOnly("typed-after"));
    Page page = DESK.open("#/?q=typed-before");
    page.addInitScript(KEEP_THE_FEED);
    page.clock().install();
    page.reload();
    assertThat(row(page, before)).isVisible();
    page.keyboard().press("p");
    List<Route> held = new ArrayList<>();
    page.route("**/api/requests?*q=typed-after*", first(held::add));

    page.locator("#search").fill("typed-after");
    page.waitForCondition(() -> !held.isEmpty());
    page.evaluate("feed.dispatchEvent(new MessageEvent('requests', { data: '[]' }))");
    page.clock().runFor(1_000);
    held.getFirst().resume();

    assertThat(row(page, after)).isVisible();
    assertThat(row(page, before)).hasCount(0);
  }

  /** Applies the handler to the first request; the others continue. */
  private static Consumer<Route> first(Consumer<Route> handler) {
    AtomicBoolean come = new AtomicBoolean();
    return route -> {
      if (come.getAndSet(true)) {
        route.resume();
      } else {
        handler.accept(route);
      }
    };
  }

  @Test
  void pendingRequest_thatNoLongerMatches_isNotAnnounced() {
    ByteString root = ByteString.copyFromUtf8("the root");
    Page page = DESK.open("#/?status=broken");
    assertThat(page.locator("#link-state")).hasText("live");
    page.keyboard().press("p");
    SentTrace trace = new SentTrace();
    trace.span("llm-gateway", "gateway.attempt", root, 5, 40);
    DESK.send(trace);
    assertThat(page.locator(".fresh")).hasText("1 new ↑");

    trace.span("llm-gateway", "gateway.request", ByteString.EMPTY, 0, 50).setSpanId(root);
    DESK.send(trace);

    assertThat(page.locator(".fresh")).isHidden();
  }

  @Test
  void truncatedResponse_isAFailure() {
    Page page = DESK.open("#/");
    page.route(
        "**/api/requests?*",
        route -> route.fulfill(new Route.FulfillOptions().setBody("{\"requests\":[{")));

    page.reload();

    assertThat(page.locator(".notice")).containsText("The desk does not answer.");
  }

  @Test
  void columnHeading_sortsTheList_largestFirstThenSmallestFirst() {
    SentTrace slow = DESK.send(Requests.prefillDecode("sorted"));
    SentTrace fast = DESK.send(Requests.decodeOnly("sorted"));
    Page page = DESK.open("#/?q=sorted");
    Locator rows = page.locator(".request:not(.head)");
    Locator took = page.locator(".head .c-took");
    assertThat(rows.first()).hasAttribute("data-trace", fast.id());

    took.locator("button").click();
    assertThat(rows.first()).hasAttribute("data-trace", slow.id());
    assertThat(took).hasAttribute("aria-sort", "descending");
    took.locator("button").click();
    assertThat(rows.first()).hasAttribute("data-trace", fast.id());
    assertThat(page).hasURL(Pattern.compile("sort=took%3Aasc"));
    took.locator("button").click();
    assertThat(took).hasAttribute("aria-sort", "none");
  }

  @Test
  void statusFilter_showsOnlyFailedRequests_alsoOfNewOnes() {
    SentTrace fine = DESK.send(Requests.decodeOnly("fine"));
    Page page = DESK.open("#/");
    assertThat(row(page, fine)).isVisible();
    page.locator("[data-state=error]").click();
    assertThat(row(page, fine)).hasCount(0);

    SentTrace failed = DESK.send(Requests.failedPrefill("failing"));

    assertThat(row(page, failed)).isVisible();
    assertThat(row(page, failed).locator(".mark-error").first()).isVisible();
  }

  @Test
  void searchWithoutAMatch_showsWhatIsSearched_andClears() {
    SentTrace trace = DESK.send(Requests.decodeOnly("any"));
    Page page = DESK.open("#/?q=nothing-has-this-name");
    assertThat(page.locator(".notice")).containsText("No request matches");

    page.locator(".notice button").click();

    assertThat(row(page, trace)).isVisible();
    assertThat(page.locator("#search")).hasValue("");
  }

  @Test
  void emptyDesk_showsHowToSendTraces() {
    try (DeskProcess empty = DeskProcess.start(0)) {
      Page page = DESK.open(empty.page(), "#/", 1280, ColorScheme.LIGHT);
      assertThat(page.locator(".notice")).containsText("OTEL_EXPORTER_OTLP_ENDPOINT");
    }
  }

  @Test
  void killedDesk_isReported_andReconnectedTo() {
    DeskProcess first = DeskProcess.start(0);
    SentTrace before = Requests.decodeOnly("before").to(first.otlp());
    Page page = DESK.open(first.page(), "#/", 1280, ColorScheme.LIGHT);
    assertThat(row(page, before)).isVisible();

    first.kill();
    assertThat(page.locator("#gone")).isVisible();
    assertThat(row(page, before)).isVisible();

    try (DeskProcess second = DeskProcess.start(first.page().getPort())) {
      assertThat(page.locator("#link-state")).hasText("live", within20Seconds());
      assertThat(page.locator("#gone")).isHidden();
      SentTrace after = Requests.decodeOnly("after").to(second.otlp());
      assertThat(row(page, after)).isVisible();
      assertThat(row(page, before)).hasCount(0);
    }
  }

  @Test
  void scrolledList_ofARestartedDesk_isEmptyAfterScrollingUp() {
    DeskProcess first = DeskProcess.start(0);
    for (int i = 0; i < 40; i++) {
      Requests.decodeOnly("before").to(first.otlp());
    }
    Page page = DESK.open(first.page(), "#/", 1280, ColorScheme.LIGHT);
    Locator rows = page.locator(".request:not(.head)");
    assertThat(rows).hasCount(40);
    page.evaluate("window.scrollTo(0, 600)");
    first.kill();
    assertThat(page.locator("#gone")).isVisible();

    try (DeskProcess second = DeskProcess.start(first.page().getPort())) {
      // Reconnecting queries once; the rows stay, because they must not move now.
      page.waitForResponse(
          "**/api/requests?*",
          () -> assertThat(page.locator("#link-state")).hasText("live", within20Seconds()));
      assertThat(rows).hasCount(40);

      page.evaluate("window.scrollTo(0, 0)");

      assertThat(rows).hasCount(0);
    }
  }

  @Test
  void twoRequestsAreCompared_withTheMouseAlone() {
    SentTrace a = DESK.send(Requests.decodeOnly("clicked"));
    SentTrace b = DESK.send(Requests.prefillDecode("clicked"));
    Page page = DESK.open("#/?q=clicked");
    link(page, a).click();
    page.getByText("Compare with…").click();
    assertThat(page.locator(".choice")).isVisible();

    link(page, b).click();

    assertThat(page).hasURL(Pattern.compile("#/compare/" + a.id() + "/" + b.id()));
    page.goBack();
    assertThat(page.locator(".choice")).isHidden();
    link(page, b).click();
    assertThat(page).hasURL(Pattern.compile("#/trace/" + b.id()));
  }

  @Test
  void selectionIsCleared_withTheMouse() {
    SentTrace a = DESK.send(Requests.decodeOnly("let-go"));
    SentTrace b = DESK.send(Requests.prefillDecode("let-go"));
    Page page = DESK.open("#/?q=let-go");
    link(page, a).click();
    page.getByText("Compare with…").click();

    page.getByText("Do not compare").click();

    link(page, b).click();
    assertThat(page).hasURL(Pattern.compile("#/trace/" + b.id()));
  }

  private static HasTextOptions within20Seconds() {
    return new HasTextOptions().setTimeout(20_000);
  }

  private static Locator link(Page page, SentTrace trace) {
    return page.locator(".request[data-trace='" + trace.id() + "'] a.open");
  }

  private static Locator row(Page page, SentTrace trace) {
    return page.locator(".request[data-trace='" + trace.id() + "']");
  }
}
