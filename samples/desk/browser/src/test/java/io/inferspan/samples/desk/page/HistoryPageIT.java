package io.inferspan.samples.desk.page;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class HistoryPageIT {

  @RegisterExtension static final DeskPage DESK = new DeskPage();

  @Test
  void requestsOverTime_areCounted_andFilteredByPodAndRange() {
    DESK.send(Requests.prefillDecode("counted"));
    DESK.send(Requests.failedPrefill("counted"));
    Page page = DESK.open("#/history");
    Locator chart = page.locator(".history-chart[role=img]");
    assertThat(chart).hasAttribute("aria-label", "2 requests, 1 failed");

    page.locator("select[aria-label=Pod]").selectOption("vllm-prefill-pod");

    assertThat(chart).hasAttribute("aria-label", "1 request, 0 failed");
    assertThat(page.locator(".decisions tbody tr")).hasCount(1);
    page.locator(".segments a", new Page.LocatorOptions().setHasText("15 minutes")).click();
    assertThat(page).hasURL(Pattern.compile("#/history\\?minutes=15&pod=vllm-prefill-pod"));
    assertThat(chart).hasAttribute("aria-label", "1 request, 0 failed");
  }
}
