package io.inferspan.samples.desk.page;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.BrowserType;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.options.ColorScheme;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A desk and a browser for one test class. After each test it checks that the page did not violate
 * its content security policy, throw, or run text of a trace as code.
 */
final class DeskPage implements BeforeAllCallback, AfterEachCallback, AfterAllCallback {

  private static final double TIMEOUT_MILLIS = 10_000;
  private static final Path CHROMIUM = Path.of("/usr/bin/chromium");
  private static final String MISSING =
      "needs chromium: apt-get install chromium fonts-dejavu fonts-noto-color-emoji";

  // Runs before all scripts of the page, so that it sees every violation and error.
  private static final String WATCH =
      """
      window.violations = [];
      addEventListener('securitypolicyviolation', (event) => violations.push(`${event.violatedDirective} ${event.blockedURI}`));
      window.alert = (text) => violations.push(`alert ${text}`);
      """;

  private final List<Page> pages = new ArrayList<>();
  private final List<String> thrown = new ArrayList<>();
  private @Nullable Playwright playwright;
  private @Nullable Browser browser;
  private @Nullable DeskProcess desk;

  @Override
  public void beforeAll(ExtensionContext context) {
    assumeTrue(Files.isExecutable(CHROMIUM), MISSING);
    playwright =
        Playwright.create(
            new Playwright.CreateOptions().setEnv(Map.of("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")));
    browser =
        playwright
            .chromium()
            .launch(
                new BrowserType.LaunchOptions()
                    .setExecutablePath(CHROMIUM)
                    .setArgs(List.of("--no-sandbox")));
    desk = DeskProcess.start(0);
  }

  /** Opens a page, 1280 pixels wide and in light colours, on the desk of this class. */
  Page open(String address) {
    return open(desk().page(), address, 1280, ColorScheme.LIGHT);
  }

  Page open(URI desk, String address, int width, ColorScheme colours) {
    BrowserContext context =
        Objects.requireNonNull(browser)
            .newContext(
                new Browser.NewContextOptions()
                    .setViewportSize(width, 800)
                    .setColorScheme(colours));
    context.setDefaultTimeout(TIMEOUT_MILLIS);
    context.addInitScript(WATCH);
    Page page = context.newPage();
    page.onPageError(thrown::add);
    pages.add(page);
    page.navigate(desk.resolve("/" + address).toString());
    return page;
  }

  /** Sends a trace to the desk of this class. */
  SentTrace send(SentTrace trace) {
    return trace.to(desk().otlp());
  }

  DeskProcess desk() {
    return Objects.requireNonNull(desk);
  }

  @Override
  public void afterEach(ExtensionContext context) {
    List<Object> violations = new ArrayList<>();
    for (Page page : pages) {
      violations.addAll((List<?>) page.evaluate("window.violations"));
      page.context().close();
    }
    pages.clear();
    List<String> errors = List.copyOf(thrown);
    thrown.clear();
    assertThat(violations).as("violations of the content security policy").isEmpty();
    assertThat(errors).as("errors that the page threw").isEmpty();
  }

  @Override
  public void afterAll(ExtensionContext context) {
    if (desk != null) {
      desk.close();
    }
    if (playwright != null) {
      playwright.close();
    }
  }
}
