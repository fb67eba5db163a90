package io.inferspan.samples.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The demo as a process: its end, and its output without permission to observe the kernel. */
class DemoProcessIT {

  private static final int PROCESSES = 9;
  private static final long START_SECONDS = 60;

  /** All processes end at the same time; each has five seconds. */
  private static final long END_SECONDS = 10;

  private static final String END = "(the demo has closed its output)";
  private static final int INTERRUPTED = 128 + 2;
  private static final int TERMINATED = 128 + 15;

  private final List<String> said = new CopyOnWriteArrayList<>();
  private @Nullable Process running;
  private List<ProcessHandle> started = List.of();

  @BeforeEach
  void requireBuiltJars() {
    List<Path> missing = new Programs(StackIT.ROOT, false).missing();
    assumeTrue(missing.isEmpty(), "not built yet: " + missing);
  }

  @AfterEach
  void killRemainingProcesses() {
    if (running != null) {
      running.destroyForcibly();
    }
    started.forEach(ProcessHandle::destroyForcibly);
  }

  @Test
  void sigintToTheDemoOnly_endsEveryProcess() throws Exception {
    start(List.of("env", "--default-signal=INT"));
    await(() -> said.contains("Ctrl-C stops the demo."));
    started = children();
    assertThat(started).hasSizeGreaterThanOrEqualTo(PROCESSES - 1);

    signal("INT");

    assertEverythingEnds(INTERRUPTED);
  }

  @Test
  void sigtermToTheDemoOnly_duringItsStart_endsEveryProcess() throws Exception {
    start(List.of());
    await(() -> children().size() >= PROCESSES - 1);
    started = children();

    signal("TERM");

    assertEverythingEnds(TERMINATED);
  }

  @Test
  void unprivilegedUser_getsAllSixTrees_andTheReasonForMissingKernelSpans() throws Exception {
    boolean isRoot = "root".equals(System.getProperty("user.name"));
    List<String> before =
        isRoot ? List.of("setpriv", "--bounding-set=-all", "--inh-caps=-all", "--") : List.of();

    start(before, "--once");

    assertThat(demo().waitFor(START_SECONDS, TimeUnit.SECONDS)).isTrue();
    await(() -> said.contains(END));
    assertThat(demo().exitValue()).as(said.toString()).isZero();
    assertThat(said).filteredOn(line -> line.startsWith("→ ")).hasSize(Scenario.values().length);
    assertThat(said)
        .filteredOn(line -> line.startsWith("Without kernel spans: "))
        .singleElement()
        .satisfies(line -> assertThat(line).matches("Without kernel spans: .{10,}"));
    assertThat(said).noneMatch(line -> line.contains("[" + Stack.AGENT_SERVICE + "]"));
  }

  private void start(List<String> before, String... arguments) throws IOException {
    List<String> command = new ArrayList<>(before);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx96m"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.add(DemoMain.class.getName());
    command.addAll(List.of(arguments));
    running =
        new ProcessBuilder(command)
            .directory(StackIT.ROOT.toFile())
            .redirectErrorStream(true)
            .start();
    InputStream output = running.getInputStream();
    Thread.ofPlatform().daemon().start(() -> read(output));
  }

  private void read(InputStream output) {
    try (BufferedReader lines =
        new BufferedReader(new InputStreamReader(output, StandardCharsets.UTF_8))) {
      lines.lines().forEach(said::add);
    } catch (IOException e) {
      said.add(e.toString());
    }
    said.add(END);
  }

  private Process demo() {
    return Objects.requireNonNull(running, "the demo has not been started");
  }

  private List<ProcessHandle> children() {
    return demo().descendants().toList();
  }

  private void signal(String name) throws IOException, InterruptedException {
    assertThat(
            new ProcessBuilder("kill", "-" + name, Long.toString(demo().pid())).start().waitFor())
        .isZero();
  }

  private void assertEverythingEnds(int status) throws Exception {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(END_SECONDS);
    assertThat(demo().waitFor(END_SECONDS, TimeUnit.SECONDS)).as("the demo still runs").isTrue();
    assertThat(demo().exitValue()).as(said.toString()).isEqualTo(status);
    for (ProcessHandle child : started) {
      while (child.isAlive() && System.nanoTime() < end) {
        TimeUnit.MILLISECONDS.sleep(10);
      }
      assertThat(child.isAlive()).as("%s is an orphan", child.info()).isFalse();
    }
    // A process that the demo ends is not reported.
    assertThat(said).noneMatch(line -> line.contains(" has ended, "));
  }

  private void await(BooleanSupplier condition) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
    while (true) {
      // Read before the condition: lines that precede the end must be seen.
      boolean ended = said.contains(END);
      if (condition.getAsBoolean()) {
        return;
      }
      assertThat(ended).as(said.toString()).isFalse();
      assertThat(System.nanoTime()).as(said.toString()).isLessThan(end);
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }
}
