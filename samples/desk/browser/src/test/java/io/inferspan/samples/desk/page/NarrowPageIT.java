package io.inferspan.samples.desk.page;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.ColorScheme;
import java.util.List;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The page on a phone, and the contrast of its text in light and dark colours. */
class NarrowPageIT {

  private static final int PHONE = 390;
  private static final int SMALL_PHONE = 320;
  private static final double MIN_CONTRAST = 4.5;

  // The contrast (WCAG 2) between an element's text and the first background behind it that is not
  // transparent.
  private static final String CONTRAST =
      """
      (selector) => {
        const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
        const channel = (value) => (value <= 10.31475 ? value / 3294.6 : ((value / 255 + 0.055) / 1.055) ** 2.4);
        const light = (colour) => { const [r, g, b] = parts(colour).map(channel); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
        const behind = (node) => {
          for (let up = node; up; up = up.parentElement) {
            const colour = getComputedStyle(up).backgroundColor;
            if ((parts(colour)[3] ?? 1) === 1) return colour;
          }
          return 'rgb(255, 255, 255)';
        };
        const node = document.querySelector(selector);
        const [a, b] = [light(getComputedStyle(node).color), light(behind(node))].sort((x, y) => y - x);
        return (a + 0.05) / (b + 0.05);
      }
      """;

  private static final String LINES =
      """
      () => [...document.querySelectorAll('.parts .n')].map((cell) => {
        const range = document.createRange();
        range.selectNodeContents(cell);
        return new Set([...range.getClientRects()].map((line) => line.top)).size;
      })
      """;

  @RegisterExtension static final DeskPage DESK = new DeskPage();

  @ParameterizedTest
  @EnumSource(names = {"LIGHT", "DARK"})
  void nothingIsWiderThanAPhone(ColorScheme colours) {
    SentTrace a = DESK.send(Requests.prefillDecode(Requests.MODEL));
    SentTrace b = DESK.send(Requests.failedPrefill(Requests.MODEL));
    for (String address :
        List.of("#/", "#/trace/" + a.id(), "#/compare/" + a.id() + "/" + b.id(), "#/history")) {
      Page page = DESK.open(DESK.desk().page(), address, PHONE, colours);
      page.locator(".request:not(.head), .wf-row.selected, .pair, .decisions tr").first().waitFor();

      assertThat(page.evaluate("document.documentElement.scrollWidth"))
          .as(address)
          .isEqualTo(PHONE);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"LIGHT", "DARK"})
  void text_contrastsWithItsBackground(ColorScheme colours) {
    SentTrace trace = DESK.send(Requests.prefillDecode(Requests.MODEL));
    DESK.send(Requests.failedPrefill(Requests.MODEL));
    Page list = DESK.open(DESK.desk().page(), "#/", 1280, colours);
    list.locator(".request[data-status=error]").first().waitFor();
    for (String selector : List.of(".r-name", ".r-why", ".c-time", ".mark-error", ".stats")) {
      assertThat(contrast(list, selector)).as(selector).isGreaterThanOrEqualTo(MIN_CONTRAST);
    }
    Page page = DESK.open(DESK.desk().page(), "#/trace/" + trace.id(), 1280, colours);
    page.locator(".wf-row.selected").waitFor();
    for (String selector :
        List.of(".why", ".facts dt", ".part-prefill", ".sum-value", ".wf-service", ".mark-warn")) {
      assertThat(contrast(page, selector)).as(selector).isGreaterThanOrEqualTo(MIN_CONTRAST);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"LIGHT", "DARK"})
  void tappedSpan_opensItsDetailsOverTheRows(ColorScheme colours) {
    SentTrace trace = DESK.send(Requests.prefillDecode(Requests.MODEL));
    Page page = DESK.open(DESK.desk().page(), "#/trace/" + trace.id(), PHONE, colours);
    page.locator(".wf-row.selected").waitFor();
    assertThat(page.locator(".details")).isHidden();

    page.locator(".wf-row:not([hidden])").nth(1).click();
    assertThat(page.locator(".details")).isVisible();
    page.locator(".details-close").click();

    assertThat(page.locator(".details")).isHidden();
  }

  @Test
  void numbers_areNotWrapped() {
    SentTrace a = DESK.send(Requests.decodeOnly(Requests.MODEL));
    SentTrace b = DESK.send(Requests.prefillDecode(Requests.MODEL));
    Page page =
        DESK.open(
            DESK.desk().page(),
            "#/compare/" + a.id() + "/" + b.id(),
            SMALL_PHONE,
            ColorScheme.LIGHT);
    page.locator(".parts .n").first().waitFor();

    assertThat(page.evaluate("document.documentElement.scrollWidth")).isEqualTo(SMALL_PHONE);
    assertThat(page.evaluate(LINES))
        .asInstanceOf(InstanceOfAssertFactories.LIST)
        .isNotEmpty()
        .containsOnly(1);
  }

  private static double contrast(Page page, String selector) {
    return ((Number) page.evaluate(CONTRAST, selector)).doubleValue();
  }
}
