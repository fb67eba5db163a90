package io.inferspan.ebpf.coldstart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.inferspan.ebpf.coldstart.ColdStart.Outcome;
import io.inferspan.ebpf.coldstart.Observation.Event;
import io.inferspan.ebpf.coldstart.Readiness.Cause;
import io.inferspan.ebpf.coldstart.Readiness.Ready;
import io.inferspan.ebpf.coldstart.StackEvents.Collected;
import io.inferspan.ebpf.coldstart.StackEvents.Wake;
import io.inferspan.ebpf.wire.Kind;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The page in Chromium: a script after the page's own moves the mouse, and records what is shown.
 */
class ColdStartPageIT {

  private static final Path CHROMIUM = Path.of("/usr/bin/chromium");
  private static final Pattern SEEN =
      Pattern.compile("<pre id=\"seen\">(.*?)</pre>", Pattern.DOTALL);
  private static final int PID = 7;
  private static final long SECOND = 1_000_000_000;
  private static final int FUTEX_CALL = 203;
  private static final int MAX_BYTES = 5_000_000;
  private static final int MAX_MILLIS = 2_000;

  private static final String TEST_SCRIPT =
      """
      <script>
      const seen = document.createElement('pre'); seen.id = 'seen'; document.body.append(seen);
      addEventListener('error', (event) => { seen.textContent += 'threw ' + event.message + '\\n'; });
      addEventListener('securitypolicyviolation', () => { seen.textContent += 'violation\\n'; });
      const note = (text) => { seen.textContent += text + '\\n'; };
      function mouse(kind, second, lane, more) {
        const box = canvas.getBoundingClientRect();
        canvas.dispatchEvent(new (kind === 'wheel' ? WheelEvent : MouseEvent)(kind, {bubbles: true, cancelable: true,
          clientX: box.left + x(second * 1e6), clientY: box.top + lanes[lane].top + 3, ...more}));
      }
      const tipAt = (second, lane) => { mouse('mousemove', second, lane); return tip.style.display === 'block' ? tip.textContent : 'nothing'; };
      const shown = () => [from, to].map((micros) => Math.round(micros / 1e4)).join(' ');
      %s
      </script>
      """;

  @TempDir private Path directory;
  private final List<Event> events = new ArrayList<>();

  @Test
  void tooltip_hasThePhaseTheGapTheStateAndTheWaker() throws Exception {
    String why = "ended by thread 9 (holder) of process 7 in sem_post, after it opened /a.py";

    assertThat(
            seen(page(), "for (let lane of [0, 1, 2]) note(tipAt(1.5, lane)); note(tipAt(.5, 0));"))
        .containsExactly(
            "gap: futex_pipe_socket in futex, process 7, " + why + " · 1.500 s from 1.000 s",
            "futex_pipe_socket in futex · 1.000 s from 1.000 s",
            "futex_pipe_socket in futex, process 7, " + why + " · 1.000 s from 1.000 s",
            "imports · 0.999 s from 0.001000 s");
  }

  @Test
  void wheelClickAndEscape_zoomInAndBack() throws Exception {
    assertThat(
            seen(
                page(),
                """
                note(shown() + byId('reset').disabled);
                mouse('wheel', 1, 1, {deltaY: -1}); note(shown() + byId('reset').disabled);
                mouse('click', 1.5, 1); note(shown());
                dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape'})); note(shown());
                """))
        .containsExactly("0 400true", "20 340false", "100 200", "0 400");
  }

  @Test
  void hostileNames_areOnlyText() throws Exception {
    add(Kind.SYSCALL_OPENAT, 1, 1, 0, "</script><script>note('ran')</script>.py");
    add(Kind.SCHED_OFFCPU, SECOND, 2 * SECOND, FUTEX_CALL, "");

    assertThat(seen(html(new Collected(List.of(), List.of())), "note(tipAt(1.5, 2));"))
        .singleElement()
        .asString()
        .contains("after it opened &lt;/script&gt;&lt;script&gt;note('ran')");
  }

  @Test
  void hundredThousandEvents_fitIntoFiveMegabytes_andAreDrawnInTwoSeconds() throws Exception {
    long step = 4 * SECOND / 100_000;
    for (int i = 0; i < 100_000; i++) {
      add(Kind.SYSCALL_READ, i * step, i * step + step / 2, 0, "");
    }
    String html = html(new Collected(List.of(), List.of()));

    assertThat(html.length()).isLessThan(MAX_BYTES);
    List<String> seen =
        seen(html, "note(document.body.dataset.bars); note(document.body.dataset.ready);");
    assertThat(Integer.parseInt(seen.get(0))).isGreaterThan(100_000);
    assertThat(Integer.parseInt(seen.get(1))).isLessThan(MAX_MILLIS);
  }

  private String page() throws Exception {
    add(Kind.SYSCALL_OPENAT, SECOND / 1000, SECOND, 0, "/a.py");
    add(Kind.SCHED_OFFCPU, SECOND, 2 * SECOND, FUTEX_CALL, "");
    add(Kind.CUDA_LAUNCH, 2 * SECOND + SECOND / 2, 4 * SECOND, 0, "");
    return html(
        new Collected(
            List.of(), List.of(new Wake(PID, SECOND, 2 * SECOND, PID, 9, "holder", "sem_post"))));
  }

  private String html(Collected seen) throws Exception {
    Ready ready = new Ready(Cause.URL, 4 * SECOND);
    return ColdStartPage.of(
        new ColdStart(events, seen, new Outcome(PID, 0, ready, 0, 0, Map.of())));
  }

  private void add(Kind kind, long start, long end, long extra, String text) {
    events.add(new Event(kind, PID, PID, start, end, 0, 1, extra, text));
  }

  /** Returns the lines that the script recorded. */
  private List<String> seen(String html, String script) throws Exception {
    assumeTrue(Files.isExecutable(CHROMIUM), "needs chromium: apt-get install chromium");
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
                "--dump-dom",
                file.toUri().toString())
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    String dom = new String(chromium.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    chromium.waitFor();
    Matcher found = SEEN.matcher(dom);
    assertThat(found.find()).as("%.300s", dom).isTrue();
    return found.group(1).lines().toList();
  }
}
