package io.inferspan.samples.desk.page;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static io.inferspan.samples.desk.page.SentTrace.failed;
import static io.inferspan.samples.desk.page.SentTrace.with;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import io.opentelemetry.proto.trace.v1.Span;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Names that contain markup or code. After each test, {@link DeskPage} checks that none of it ran.
 */
class HostileNamesPageIT {

  private static final String MARKUP =
      "<script>alert(1)</script><img src=x onerror=alert(2)><svg/onload=alert(3)>";
  private static final String TURNED = "invoice\u202Efdp.exe\u202C";
  private static final String EMOJI = "👩‍🚀🔥 日本語 שלום";
  private static final String LONG = "x".repeat(10_000);
  private static final String STACKED = "a" + "\u0300".repeat(400);

  @RegisterExtension static final DeskPage DESK = new DeskPage();

  @ParameterizedTest
  @ValueSource(strings = {"#/", "#/trace/", "#/compare/", "#/history"})
  void everyView_showsNamesAsText(String address) {
    SentTrace trace = DESK.send(hostile());
    String query = address.equals("#/compare/") ? trace.id() + "/" + trace.id() : trace.id();
    Page page =
        DESK.open(address.endsWith("/") && address.length() > 2 ? address + query : address);

    assertThat(page.locator(".foreign", text(MARKUP.substring(0, 25))).first()).isAttached();
    assertThat(page.locator("main script, main img, main svg[onload]")).hasCount(0);
    assertThat(page.evaluate("document.documentElement.scrollWidth <= innerWidth")).isEqualTo(true);
  }

  @Test
  void everyRow_keepsItsHeightAndPosition() {
    Page page = opened();

    assertThat(
            page.evaluate(
                "[...new Set([...document.querySelectorAll('.wf-row:not([hidden])')].map((row) => row.getBoundingClientRect().height))]"))
        .isEqualTo(List.of(26));
    assertThat(
            page.evaluate(
                "[...document.querySelectorAll('.wf-row:not([hidden]) .wf-name')].every((name) => name.getBoundingClientRect().right <= name.closest('.wf-row').getBoundingClientRect().right)"))
        .isEqualTo(true);
  }

  @Test
  void bidirectionalControls_areShown_withoutEffect() {
    Page page = opened();

    assertThat(page.locator(".wf-name", text("invoice⟨202E⟩fdp.exe⟨202C⟩"))).isVisible();
    assertThat(page.locator(".wf-name", text(EMOJI))).isVisible();
  }

  @Test
  void longName_isTruncated_andShownInFullOnDemand() {
    Page page = opened();
    Locator name = page.locator(".wf-name", text("xxxxxxxx"));
    assertThat(name.textContent().length()).isLessThan(200);

    name.click();
    Locator title = page.locator(".details-head h2");
    assertThat(title).containsText("Show all 10,000 characters");
    assertThat(title.locator(".whole").textContent().length()).isLessThan(500);
    title.locator("button").click();

    assertThat(title.locator(".whole").textContent()).isEqualTo(LONG);
  }

  private static Page opened() {
    SentTrace trace = DESK.send(hostile());
    Page page = DESK.open("#/trace/" + trace.id());
    page.locator(".wf-row:not([hidden])").first().waitFor();
    return page;
  }

  private static SentTrace hostile() {
    SentTrace trace = new SentTrace();
    Span.Builder root = trace.span(MARKUP, MARKUP, ByteString.EMPTY, 0, 100);
    with(failed(root, MARKUP), "gen_ai.request.model", MARKUP);
    with(root, "error.type", MARKUP);
    with(root, "gen_ai.request.id", MARKUP);
    with(root, MARKUP, MARKUP);
    Span.Builder pick =
        trace.span("gateway", "llm_d.epp.profile_handler.pick", root.getSpanId(), 1, 1);
    with(pick, "llm_d.epp.profile_handler.decision", MARKUP);
    with(pick, "llm_d.epp.profile_handler.reason", MARKUP);
    for (String name : List.of(TURNED, EMOJI, LONG, STACKED, "", "\u0000\u0007\n\t")) {
      with(trace.span(name, name, root.getSpanId(), 10, 50), "key", name);
    }
    return trace;
  }

  private static Page.LocatorOptions text(String text) {
    return new Page.LocatorOptions().setHasText(text);
  }
}
