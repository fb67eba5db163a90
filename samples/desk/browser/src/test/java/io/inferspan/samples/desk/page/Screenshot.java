package io.inferspan.samples.desk.page;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserType;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.options.ColorScheme;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * Takes the screenshot of a running demo for the repository's README: {@code samples/docs/shoot}.
 *
 * <p>It is not named like a test, so that it runs only on request.
 */
class Screenshot {

  private static final int WIDTH = 1280;
  private static final int HEIGHT = 920;
  private static final long MAX_BYTES = 300_000;
  private static final Pattern TRACE = Pattern.compile("\"traceId\":\"([0-9a-f]{32})\"");

  @Test
  void slowPrefill_ofTheDemo() throws Exception {
    String desk = System.getProperty("shot.desk");
    Path file = Path.of(System.getProperty("shot.file"));
    try (Playwright playwright =
            Playwright.create(
                new Playwright.CreateOptions()
                    .setEnv(Map.of("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")));
        Browser browser =
            playwright
                .chromium()
                .launch(
                    new BrowserType.LaunchOptions()
                        .setExecutablePath(Path.of("/usr/bin/chromium"))
                        .setArgs(List.of("--no-sandbox")))) {
      Page page =
          browser.newPage(
              new Browser.NewPageOptions()
                  .setViewportSize(WIDTH, HEIGHT)
                  .setColorScheme(ColorScheme.LIGHT));
      String found = page.request().get(desk + "api/requests?q=demo-slow-prefill").text();
      Matcher trace = TRACE.matcher(found);
      assertThat(trace.find()).as(found).isTrue();
      page.navigate(desk + "#/trace/" + trace.group(1));
      assertThat(page.locator(".anatomy .sum-value")).isVisible();
      assertThat(page.locator(".wf-path i").first()).isAttached();
      Files.write(file, page.screenshot());
    }
    assertThat(Files.size(file)).isLessThanOrEqualTo(MAX_BYTES);
  }
}
