package io.inferspan.samples.desk.page;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class LatencyPageIT {

  @RegisterExtension static final DeskPage DESK = new DeskPage();

  @Test
  void percentilesAndErrors_areShownByModel_withLinksToRequests() {
    DESK.send(Requests.prefillDecode("measured"));
    DESK.send(Requests.decodeOnly("measured"));
    DESK.send(Requests.failedPrefill("measured"));
    Page page = DESK.open("#/latency");
    Locator row =
        page.locator(".latency tbody tr")
            .filter(new Locator.FilterOptions().setHasText("measured"));

    assertThat(row.locator("td").nth(1)).hasText("3");
    assertThat(row.locator("td").nth(2)).hasText("33 %");
    assertThat(row.locator("td").nth(4)).hasText("60.0 ms");
    row.locator("a").click();
    assertThat(page).hasURL(Pattern.compile("#/\\?model=measured"));
    assertThat(page.locator(".request:not(.head)")).hasCount(3);
  }

  @Test
  void groupAndRange_stayInTheAddress() {
    DESK.send(Requests.prefillDecode("grouped"));
    Page page = DESK.open("#/latency");

    page.locator(".segments a", new Page.LocatorOptions().setHasText("Pod")).click();
    page.locator(".segments a", new Page.LocatorOptions().setHasText("1 hour")).click();

    assertThat(page).hasURL(Pattern.compile("#/latency\\?by=pod&minutes=60"));
    assertThat(page.locator(".latency tbody")).containsText("vllm-decode-pod");
  }
}
