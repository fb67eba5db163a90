package io.inferspan.samples.desk.page;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.google.protobuf.ByteString;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.BoundingBox;
import io.opentelemetry.proto.trace.v1.Span;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The flame graph of kernel and CUDA calls. A frame is as wide as the time in its calls. */
class FlamePageIT {

  private static final String ENGINE = "vllm-flame-pod";

  /** The border of the selected frame, which its box includes; each frame ends a pixel early. */
  private static final double OUTLINE = 3;

  @RegisterExtension static final DeskPage DESK = new DeskPage();

  @Test
  void frames_areOnTheirSpan_asWideAsTheTimeInTheirCalls() {
    Page page = opened();

    BoundingBox root = box(frame(page, "app.request"));
    BoundingBox engine = box(frame(page, "llm_request"));
    BoundingBox cuda = box(frame(page, "cuda"));
    BoundingBox syscall = box(frame(page, "syscall"));
    assertThat(engine.width).isCloseTo(root.width, within(OUTLINE));
    assertThat(cuda.width / root.width).isCloseTo(0.75, within(0.01));
    assertThat(syscall.width / root.width).isCloseTo(0.25, within(0.01));
    assertThat(syscall.x).isCloseTo(cuda.x + cuda.width, within(OUTLINE));
    assertThat(List.of(root.y, engine.y, cuda.y, box(frame(page, "cuda.launch")).y))
        .isSorted()
        .doesNotHaveDuplicates();
    assertThat(box(frame(page, "cuda.sync")).width / root.width).isCloseTo(0.25, within(0.01));
  }

  @Test
  void frame_showsItsTimeAndShare_andFillsTheWidthWhenClicked() {
    Page page = opened();
    frame(page, "syscall.futex").hover();
    assertThat(page.locator(".flame-line"))
        .hasText(
            "syscall.futex · 10.0 ms · 25 % of the time in calls"
                + " · from syscall ← llm_request ← app.request");

    frame(page, "syscall.futex").click();

    assertThat(box(frame(page, "syscall.futex")).width)
        .isCloseTo(box(frame(page, "app.request")).width, within(OUTLINE));
    assertThat(frame(page, "cuda")).hasCount(0);
  }

  @Test
  void recordedStacks_areShownInsteadOfCalls_inTheColoursOfTheLegend() throws IOException {
    SentTrace trace = traceOf(Map.of("cuda.launch", 20_000_000L));
    Path file = DESK.desk().stacks().resolve("recorded.folded");
    String begin = "trace " + trace.id() + ";python3;step;";
    Files.writeString(
        file, begin + "cuLaunchKernel;-;gemm_[G] 600\n" + begin + "do_syscall_64_[k] 400\n");
    try {
      Page page = openFlame(trace);

      frame(page, "gemm_[G]").hover();
      assertThat(page.locator(".flame-line"))
          .hasText("gemm_[G] · 600 · 60 % of what was recorded · from - ← cuLaunchKernel ← step");
      assertThat(frame(page, "cuda.launch")).hasCount(0);
      assertThat(page.locator(".flame-legend li"))
          .hasText(
              new String[] {
                "function",
                "kernel function",
                "GPU kernel, or a detail of it",
                "boundary between CPU and GPU, or truncated stack"
              });
      assertThat(frame(page, "gemm_[G]")).hasClass(Pattern.compile("flame-gpu"));
      assertThat(frame(page, "do_syscall_64_[k]")).hasClass(Pattern.compile("flame-kernel"));
      int[] gpu = colour(page, "gpu");
      int[] kernel = colour(page, "kernel");
      assertThat(gpu[2]).as("blue").isGreaterThan(gpu[0]);
      assertThat(kernel[0]).as("red").isGreaterThan(kernel[2]);
    } finally {
      Files.delete(file);
    }
  }

  @Test
  void waitWithThreeSpans_isAsWideAsItsDuration() {
    SentTrace trace = new SentTrace();
    Span.Builder root = trace.span("app", "app.request", ByteString.EMPTY, 0, 100);
    for (String call : List.of("cuda.stream_sync", "syscall.epoll_wait", "sched.offcpu")) {
      Span.Builder span = trace.span(Requests.AGENT, call, root.getSpanId(), 10, 70);
      SentTrace.with(span, "thread.id", 7L);
    }
    Page page = openFlame(trace);

    assertThat(page.locator(".flame-line")).containsText("70.0 ms");
    assertThat(box(frame(page, "sched.offcpu")).width)
        .isCloseTo(box(frame(page, "cuda.stream_sync")).width, within(OUTLINE));
    assertThat(page.locator(".flame-legend li"))
        .hasText(
            new String[] {
              "span, or marker of the engine",
              "system call, or wait in the kernel",
              "call of CUDA or NCCL"
            });
  }

  /** Returns the colour of a kind in the legend. Frames have three shades of this colour. */
  private static int[] colour(Page page, String kind) {
    String rgb =
        (String)
            page.evaluate(
                "getComputedStyle(document.querySelector('.swatch.flame-%s')).backgroundColor"
                    .formatted(kind));
    return Stream.of(rgb.replaceAll("[^0-9,]", "").split(","))
        .mapToInt(Integer::parseInt)
        .toArray();
  }

  @Test
  void longName_isCutToItsFrame() {
    Page page = opened(Map.of("cuda.a_call_whose_name_is_far_too_long", 5L, "cuda.launch", 95L));
    assertThat(page.getByText(Pattern.compile("^cuda\\.a.*…$"))).isVisible();

    assertThat(
            page.evaluate(
                """
                [...document.querySelectorAll('.frame text')].filter((text) =>
                  text.getBoundingClientRect().right > text.parentNode.querySelector('rect').getBoundingClientRect().right).length
                """))
        .isEqualTo(0);
  }

  @Test
  void framesAreReadAndZoomed_withKeysAlone() {
    Page page = opened();
    page.locator(".flame-frame").focus();

    press(page, "ArrowDown", "ArrowDown", "ArrowRight", "ArrowDown");
    assertThat(page.locator(".flame-line")).containsText("syscall.futex");
    press(page, "ArrowUp", "Enter");
    assertThat(frame(page, "cuda")).hasCount(0);
    press(page, "Backspace");

    assertThat(frame(page, "cuda")).isVisible();
    press(page, "w");
    assertThat(page.locator(".wf-row.selected")).isVisible();
  }

  @Test
  void requestWithoutCalls_showsWhyItHasNoGraph() {
    SentTrace trace = new SentTrace();
    trace.span("app", "app.request", ByteString.EMPTY, 0, 50);
    Page page = open(trace);

    Locator tab = page.locator("#tab-flame");
    assertThat(tab).hasAttribute("aria-disabled", "true");
    assertThat(tab).hasAttribute("title", "This request has no stacks or kernel spans.");
    press(page, "f");
    assertThat(page.locator(".wf-row.selected")).isVisible();
  }

  /** Opens a request with 30 ms in CUDA, 20 of them in launches, and 10 ms in a system call. */
  private static Page opened() {
    return opened(
        Map.of("cuda.launch", 20_000_000L, "cuda.sync", 10_000_000L, "syscall.futex", 10_000_000L));
  }

  private static Page opened(Map<String, Long> nanosInCalls) {
    return openFlame(traceOf(nanosInCalls));
  }

  private static SentTrace traceOf(Map<String, Long> nanosInCalls) {
    SentTrace trace = new SentTrace();
    Span.Builder root = trace.span("app", "app.request", ByteString.EMPTY, 0, 100);
    ByteString engine = trace.span(ENGINE, "llm_request", root.getSpanId(), 5, 90).getSpanId();
    nanosInCalls.forEach((name, nanos) -> call(trace, engine, name, nanos));
    return trace;
  }

  private static Page openFlame(SentTrace trace) {
    Page page = open(trace);
    press(page, "f");
    assertThat(page.locator("#tab-flame")).hasAttribute("aria-selected", "true");
    return page;
  }

  private static void call(SentTrace trace, ByteString engine, String name, long nanos) {
    Span.Builder span = trace.span(Requests.AGENT, name, engine, 6, 80);
    SentTrace.with(span, "inferspan.ebpf.duration.sum_ns", nanos);
    SentTrace.with(span, "inferspan.ebpf.count", 100L);
  }

  private static Page open(SentTrace trace) {
    DESK.send(trace);
    Page page = DESK.open("#/trace/" + trace.id());
    page.locator(".wf-row.selected").waitFor();
    return page;
  }

  private static Locator frame(Page page, String name) {
    return page.locator(".frame")
        .filter(
            new Locator.FilterOptions()
                .setHas(page.getByText(name, new Page.GetByTextOptions().setExact(true))));
  }

  private static BoundingBox box(Locator frame) {
    return Objects.requireNonNull(frame.locator("rect").boundingBox());
  }

  private static void press(Page page, String... keys) {
    for (String key : keys) {
      page.keyboard().press(key);
    }
  }
}
