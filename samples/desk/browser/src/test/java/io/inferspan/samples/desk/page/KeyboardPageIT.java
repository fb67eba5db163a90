package io.inferspan.samples.desk.page;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.microsoft.playwright.Page;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests that use only the keyboard. */
class KeyboardPageIT {

  @RegisterExtension static final DeskPage DESK = new DeskPage();

  @Test
  void requestIsFoundReadAndLeft_withKeysAlone() {
    SentTrace failed = DESK.send(Requests.failedPrefill("walked"));
    SentTrace fine = DESK.send(Requests.prefillDecode("walked"));
    Page page = DESK.open("#/");
    page.locator(".request[data-trace='" + failed.id() + "']").waitFor();

    press(page, "/");
    page.keyboard().type("walked");
    assertThat(page.locator(".request:not(.head)")).hasCount(2);
    press(page, "Escape", "j");
    assertThat(focusedTrace(page)).isEqualTo(fine.id());
    assertThat(isFocusVisible(page)).isTrue();
    press(page, "j", "Enter");
    assertThat(page.locator(".wf-row.selected .wf-name")).hasText("llm_d.pd_proxy.prefill");

    press(page, "e");
    assertThat(page.locator(".wf-row.selected .wf-name")).hasText("gateway.request");
    press(page, "e");
    assertThat(page.locator(".wf-row.selected .wf-name")).hasText("llm_d.pd_proxy.prefill");
    assertThat(page.locator(".details-error")).containsText("connection reset");
    press(page, "Escape");
    assertThat(page).hasURL(Pattern.compile("#/\\?q=walked$"));
    page.waitForFunction(
        "id => document.activeElement?.closest('.request')?.dataset.trace === id", failed.id());
  }

  @Test
  void spansOpenCloseAndZoom_withKeysAlone() {
    SentTrace trace = DESK.send(Requests.prefillDecode(Requests.MODEL));
    Page page = DESK.open("#/trace/" + trace.id());
    assertThat(page.locator(".wf-row.selected .wf-name")).hasText("gateway.request");

    press(page, "j");
    assertThat(page.locator(".wf-row.selected .wf-name")).hasText("llm_d.kv_cache.get_scores");
    assertThat(page.locator(".wf-row.selected")).hasAttribute("aria-expanded", "false");
    press(page, "ArrowRight");
    assertThat(page.locator(".wf-row.selected")).hasAttribute("aria-expanded", "true");
    press(page, "ArrowLeft");
    assertThat(page.locator(".wf-row.selected")).hasAttribute("aria-expanded", "false");
    press(page, "ArrowRight", "ArrowRight");
    assertThat(page.locator(".wf-row.selected .wf-name")).hasText("llm_d.kv_cache.storage.lookup");
    press(page, "ArrowLeft", "k");
    assertThat(page.locator(".wf-row.selected .wf-name")).hasText("gateway.request");
    assertThat(page.locator(".wf-scroll"))
        .hasAttribute("aria-activedescendant", page.locator(".wf-row.selected").getAttribute("id"));

    press(page, "j", "z");
    assertThat(page.locator(".axis-ticks span").last()).not().containsText("200 ms");
    press(page, "0");
    assertThat(page.locator(".axis-ticks span").last()).containsText("200 ms");
    press(page, "Enter");
    assertThat(page.locator(".details")).isFocused();
    press(page, "Escape");
    assertThat(page.locator(".wf-scroll")).isFocused();
  }

  @Test
  void twoRequestsAreCompared_withKeysAlone() {
    SentTrace a = DESK.send(Requests.decodeOnly("compared"));
    SentTrace b = DESK.send(Requests.prefillDecode("compared"));
    Page page = DESK.open("#/?q=compared");
    assertThat(page.locator(".request:not(.head)")).hasCount(2);

    press(page, "j", "x", "j", "x");

    assertThat(page).hasURL(Pattern.compile("#/compare/" + b.id() + "/" + a.id()));
    assertThat(page.locator(".differences")).containsText("B took 70.0 ms less");
    assertThat(page.locator(".differences")).containsText("Only A has llm_d.pd_proxy.");
    press(page, "j", "Enter");
    assertThat(page.locator(".pair[open]")).hasCount(1);
    page.locator(".alike > summary").click();
    assertThat(page.locator(".alike .pair").first()).isVisible();
  }

  @Test
  void help_listsTheKeysOfTheView_andGivesTheFocusBack() {
    SentTrace trace = DESK.send(Requests.decodeOnly("helped"));
    Page page = DESK.open("#/trace/" + trace.id());
    assertThat(page.locator(".wf-scroll")).isFocused();

    press(page, "?");
    assertThat(page.locator("dialog")).isVisible();
    assertThat(page.locator("dialog")).containsText("next error");
    assertThat(page.locator("dialog")).containsText("show the whole graph");
    press(page, "Escape");
    assertThat(page.locator("dialog")).isHidden();
    assertThat(page.locator(".wf-scroll")).isFocused();
  }

  @Test
  void lateSpan_leavesTheFocusInTheTrace() {
    SentTrace trace = DESK.send(Requests.decodeOnly("late"));
    Page page = DESK.open("#/trace/" + trace.id());
    assertThat(page.locator(".wf-scroll")).isFocused();

    arrives(trace, page, "came late");
    assertThat(page.locator(".wf-scroll")).isFocused();

    press(page, "?");
    arrives(trace, page, "came while the help was open");
    press(page, "Escape");
    assertThat(page.locator(".wf-scroll")).isFocused();
  }

  private static void arrives(SentTrace trace, Page page, String span) {
    trace.span("engine", span, ByteString.EMPTY, 1, 2);
    DESK.send(trace);
    assertThat(page.locator(".wf-scroll")).containsText(span);
  }

  @Test
  void history_isReachedAndOpened_withKeysAlone() {
    SentTrace trace = DESK.send(Requests.prefillDecode("decided"));
    Page page = DESK.open("#/");
    page.locator(".request[data-trace='" + trace.id() + "']").waitFor();

    press(page, "h");
    assertThat(page.locator(".decisions tr[data-trace='" + trace.id() + "']"))
        .containsText("non cached bytes reach threshold");
    press(page, "j", "Enter");

    assertThat(page.locator(".wf-row.selected")).isVisible();
  }

  private static void press(Page page, String... keys) {
    for (String key : keys) {
      page.keyboard().press(key);
    }
  }

  private static Object focusedTrace(Page page) {
    return page.evaluate("document.activeElement.closest('.request')?.dataset.trace");
  }

  private static boolean isFocusVisible(Page page) {
    return (boolean)
        page.evaluate(
            "document.activeElement.matches(':focus-visible')"
                + " && getComputedStyle(document.activeElement, '::after').outlineStyle !== 'none'");
  }
}
