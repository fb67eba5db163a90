package io.inferspan.ebpf.flame;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The page in Chromium: a script after the page's own moves the mouse, and records what is shown.
 */
class FlamePageIT {

  private static final Path CHROMIUM = Path.of("/usr/bin/chromium");
  private static final Pattern SEEN =
      Pattern.compile("<pre id=\"seen\">(.*?)</pre>", Pattern.DOTALL);

  /** Root frames stand at the bottom, rows are 18 pixels high. */
  private static final String TEST_SCRIPT =
      """
      <script>
      const seen = document.createElement('pre'); seen.id = 'seen'; document.body.append(seen);
      addEventListener('error', (event) => { seen.textContent += 'threw ' + event.message + '\\n'; });
      addEventListener('securitypolicyviolation', (event) => { seen.textContent += 'violation\\n'; });
      const note = (text) => { seen.textContent += text + '\\n'; };
      const canvas = document.getElementById('graph');
      function mouse(kind, share, row) {
        const box = canvas.getBoundingClientRect();
        canvas.dispatchEvent(new MouseEvent(kind, {bubbles: true, clientX: box.left + share * box.width, clientY: box.bottom - row * 18 - 9}));
      }
      const tip = (share, row) => { mouse('mousemove', share, row); const t = document.getElementById('tip'); return t.style.display === 'none' ? 'nothing' : t.textContent; };
      const colour = (share, row) => {
        const dense = canvas.width / canvas.clientWidth;
        return [...canvas.getContext('2d').getImageData(share * canvas.width, canvas.height - (row * 18 + 3) * dense, 1, 1).data].slice(0, 3);
      };
      const find = (text) => { const box = document.getElementById('search'); box.value = text; box.dispatchEvent(new Event('input')); return document.getElementById('matched').textContent; };
      const wait = setInterval(() => {
        if (!document.body.dataset.ready) return;
        clearInterval(wait);
        %s
      }, 20);
      </script>
      """;

  @TempDir private Path directory;

  @Test
  void tooltip_hasTheFrameItsCountAndItsShare() throws Exception {
    List<String> seen =
        seen(page(), "note(tip(0.1, 0)); note(tip(0.1, 1)); note(tip(0.9, 1)); note(tip(0.9, 4));");

    assertThat(seen)
        .containsExactly(
            "all · 100 samples · 100.00 %",
            "main · 75 samples · 75.00 %", "other · 25 samples · 25.00 %", "nothing");
  }

  @Test
  void click_makesAFrameFillTheWidth_andResetPutsItBack() throws Exception {
    List<String> seen =
        seen(
            page(),
            """
            mouse('click', 0.1, 1); note(tip(0.99, 1)); note(document.getElementById('reset').disabled);
            document.getElementById('reset').click(); note(tip(0.99, 1));
            """);

    assertThat(seen)
        .containsExactly("main · 75 samples · 75.00 %", "false", "other · 25 samples · 25.00 %");
  }

  @Test
  void search_showsTheMatchingShare_countingNestedFramesOnce() throws Exception {
    List<String> seen =
        seen(
            page(),
            "note(find('^m')); note(find('LAUNCH|main')); note(find('a[')); note(find(''));");

    assertThat(seen).containsExactly("matched 75.00 %", "matched 75.00 %", "matched 0.00 %", "");
  }

  @Test
  void colours_areThoseOfCpuKernelAndGpu_andTheSameForTheSameName() throws Exception {
    List<String> seen =
        seen(
            page(),
            "for (const [x, y] of [[.1, 1], [.1, 2], [.5, 4], [.5, 5]]) note(colour(x,"
                + " y).join());");

    assertThat(seen).hasSize(4);
    int[] cpu = rgb(seen.get(0));
    int[] kernel = rgb(seen.get(1));
    int[] gpu = rgb(seen.get(2));
    int[] detail = rgb(seen.get(3));
    assertThat(cpu[1]).as("yellow").isGreaterThan(kernel[1]);
    assertThat(kernel[0]).as("red").isGreaterThan(kernel[1]).isGreaterThan(kernel[2]);
    assertThat(gpu[2]).as("blue").isGreaterThan(gpu[0]);
    assertThat(detail[0] + detail[1]).as("lighter").isGreaterThan(gpu[0] + gpu[1]);
    assertThat(seen(page(), "note(colour(.1, 1).join());")).containsExactly(seen.get(0));
  }

  @Test
  void difference_isRedWhereTheShareGrew() throws Exception {
    StackCounts before = counts("main;fast 50", "main;slow 50");
    StackCounts after = counts("main;fast 50", "main;slow 450");
    List<String> seen =
        seen(
            FlameHtml.difference(before, after, "Slower"),
            "note(tip(.9, 2)); note(colour(.9, 2).join()); note(colour(.05, 2).join());");

    assertThat(seen.get(0)).isEqualTo("slow · 450 samples · 90.00 %, before 50.00 %");
    assertThat(rgb(seen.get(1))[0]).isGreaterThan(rgb(seen.get(1))[2]);
    assertThat(rgb(seen.get(2))[2]).isGreaterThan(rgb(seen.get(2))[0]);
  }

  @Test
  void hostileNames_areOnlyText() throws Exception {
    StackCounts counts =
        counts("<script>alert(1)</script>;</script><img src=x onerror=alert(2)> 1");

    List<String> seen =
        seen(
            FlameHtml.of(counts, "</title><script>note('ran')</script>"),
            "note(tip(.5, 1)); note(tip(.5, 2));");

    assertThat(seen)
        .containsExactly(
            "&lt;script&gt;alert(1)&lt;/script&gt; · 1 samples · 100.00 %",
            "&lt;/script&gt;&lt;img src=x onerror=alert(2)&gt; · 1 samples · 100.00 %");
  }

  @Test
  void hundredThousandStacks_areFiveMegabytesAtMost() throws Exception {
    String html = FlameHtml.of(many(100_000), "Many");

    assertThat(html.length()).isLessThan(5 << 20);
    assertThat(seen(html, "note(document.body.dataset.frames > 100000);")).containsExactly("true");
  }

  private static String page() throws IOException {
    return FlameHtml.of(
        counts("main;launch;-;gemm_[G];sbid_[g] 50", "main;do_syscall_64_[k] 25", "other 25"),
        "Page");
  }

  private static StackCounts counts(String... lines) {
    StackCounts counts = new StackCounts(Unit.SAMPLES);
    for (String line : lines) {
      int blank = line.lastIndexOf(' ');
      counts.add(line.substring(0, blank), Long.parseLong(line.substring(blank + 1)));
    }
    return counts;
  }

  /**
   * Distinct stacks of about twenty frames that share their beginnings, as those of a program do.
   */
  private static StackCounts many(int count) {
    Random random = new Random(7);
    StackCounts counts = new StackCounts(Unit.SAMPLES);
    List<String> open = new ArrayList<>(List.of("python3;main"));
    while (counts.sorted().size() < count) {
      String begin = open.get(random.nextInt(Math.max(0, open.size() - 500), open.size()));
      String stack =
          begin + ";at::native::op_%d(at::Tensor const&, long)".formatted(random.nextInt(3000));
      counts.add(stack, 1 + random.nextInt(100));
      open.add(stack.split(";").length < 40 ? stack : "python3;main");
    }
    return counts;
  }

  private static int[] rgb(String line) {
    String[] parts = line.split(",", -1);
    return new int[] {
      Integer.parseInt(parts[0]), Integer.parseInt(parts[1]), Integer.parseInt(parts[2])
    };
  }

  /** Returns the lines that the script recorded. */
  private List<String> seen(String html, String script) throws Exception {
    assumeTrue(Files.isExecutable(CHROMIUM), "needs chromium: apt-get install chromium");
    // The page's content security policy allows inline scripts, such as this one.
    Path file = directory.resolve("page.html");
    Files.writeString(file, html.replace("</body>", TEST_SCRIPT.replace("%s", script) + "</body>"));
    Process chromium =
        new ProcessBuilder(
                CHROMIUM.toString(),
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--window-size=1280,900",
                "--user-data-dir=" + directory.resolve("profile"),
                "--virtual-time-budget=20000",
                "--dump-dom",
                file.toUri().toString())
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    String dom = new String(chromium.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    chromium.waitFor();
    Matcher seen = SEEN.matcher(dom);
    assertThat(seen.find()).as("%.300s", dom).isTrue();
    String text = seen.group(1);
    return text.isEmpty()
        ? List.of()
        : List.of(text.substring(0, text.length() - 1).split("\n", -1));
  }
}
