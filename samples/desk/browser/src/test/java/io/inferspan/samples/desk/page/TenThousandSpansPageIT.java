package io.inferspan.samples.desk.page;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.microsoft.playwright.Page;
import io.opentelemetry.proto.trace.v1.Span;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class TenThousandSpansPageIT {

  private static final int SPANS = 10_000;
  private static final double MIN_FRAMES_PER_SECOND = 30;

  // Scrolls to the bottom in three seconds, one step per frame; returns the number of frames.
  private static final String SCROLL =
      """
      async () => {
        const rows = document.querySelector('.wf-scroll');
        const way = rows.scrollHeight - rows.clientHeight;
        const begun = performance.now();
        let frames = 0;
        await new Promise((done) => {
          const frame = (now) => {
            frames++;
            rows.scrollTop = way * Math.min(1, (now - begun) / 3000);
            if (now - begun < 3000) requestAnimationFrame(frame);
            else done();
          };
          requestAnimationFrame(frame);
        });
        await new Promise(requestAnimationFrame);
        const last = [...document.querySelectorAll('.wf-row:not([hidden])')].map((row) => Number(row.dataset.index));
        return [frames / ((performance.now() - begun) / 1000), way, Math.max(...last), document.querySelectorAll('.wf-row').length];
      }
      """;

  @RegisterExtension static final DeskPage DESK = new DeskPage();

  @Test
  void tenThousandSpans_scrollAtThirtyFramesPerSecond() {
    SentTrace trace = DESK.send(large());
    Page page = DESK.open("#/trace/" + trace.id());
    page.locator(".wf-row:not([hidden])").first().waitFor();

    List<Double> seen = scrolled(page);
    // Other work on the machine only reduces the number of frames, so the best of three runs
    // counts.
    for (int i = 1; i < 3 && seen.get(0) < MIN_FRAMES_PER_SECOND; i++) {
      seen = scrolled(page);
    }

    assertThat(seen.get(0)).isGreaterThanOrEqualTo(MIN_FRAMES_PER_SECOND);
    assertThat(seen.get(1)).as("pixels scrolled").isGreaterThan(SPANS * 25.0);
    assertThat(seen.get(2)).as("the last visible row").isEqualTo(SPANS - 1.0);
    assertThat(seen.get(3)).as("rows in the document").isLessThan(100);
  }

  private static List<Double> scrolled(Page page) {
    List<Double> seen =
        ((List<?>) page.evaluate(SCROLL)).stream().map(n -> ((Number) n).doubleValue()).toList();
    System.out.printf("%.1f frames per second over %.0f pixels%n", seen.get(0), seen.get(1));
    return seen;
  }

  private static SentTrace large() {
    SentTrace trace = new SentTrace();
    Span.Builder root = trace.span("llm-gateway", "gateway.request", ByteString.EMPTY, 0, 5_000);
    ByteString parent = root.getSpanId();
    for (int i = 1; i < SPANS; i++) {
      String service = i % 2 == 0 ? "inferspan-ebpf-agent" : "vllm-decode-pod";
      // Each lasts over 1 % of the request, so that none starts collapsed.
      Span.Builder span = trace.span(service, "syscall.read " + i, parent, i / 2.5, 60 + i % 700);
      SentTrace.with(span, "inferspan.ebpf.bytes", (long) i);
      // Nested several levels deep, like real traces.
      parent = i % 40 == 0 ? root.getSpanId() : i % 5 == 0 ? span.getSpanId() : parent;
    }
    return trace;
  }
}
