package io.inferspan.samples.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class ParentWatchIT {

  private static final Duration SOON = Duration.ofSeconds(10);

  @ParameterizedTest
  @EnumSource
  void child_endsWhenItsParentIsKilled(ParentWatch watch) throws Exception {
    assumeTrue(
        watch == ParentWatch.PIPE || ParentWatch.ofThisMachine() == ParentWatch.KERNEL,
        "needs a setpriv with --pdeathsig: apt-get install util-linux");
    Process parent =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                WatchedParent.class.getName(),
                watch.name())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(parent.getInputStream(), StandardCharsets.UTF_8))) {
      long sleeper = Long.parseLong(lines.readLine());
      assertThat(isAlive(sleeper)).isTrue();

      parent.destroyForcibly().waitFor();

      assertThat(endsWithin(sleeper, SOON)).as("process %d is an orphan", sleeper).isTrue();
    } finally {
      parent.destroyForcibly();
    }
  }

  @ParameterizedTest
  @EnumSource
  void terminatedChild_endsWithItsOwnStatus(ParentWatch watch) throws Exception {
    assumeTrue(
        watch == ParentWatch.PIPE || ParentWatch.ofThisMachine() == ParentWatch.KERNEL,
        "needs a setpriv with --pdeathsig: apt-get install util-linux");
    Child child =
        Child.start(
            new Child.Plan(
                "trapped",
                List.of("sh", "-c", "trap 'echo bye; exit 7' TERM; echo up; while :; do :; done"),
                Map.of(),
                "up"),
            watch,
            died -> {});
    child.awaitReady(SOON);

    child.terminate();
    awaitEndWellWithin(SOON, child);

    assertThat(child.lastLines()).contains("up", "bye");
    assertThat(child.exitMessage()).contains("trapped has ended, with status 7");
  }

  @ParameterizedTest
  @EnumSource
  void killedProcess_isReported_withItsLastLines(ParentWatch watch) throws Exception {
    assumeTrue(
        watch == ParentWatch.PIPE || ParentWatch.ofThisMachine() == ParentWatch.KERNEL,
        "needs a setpriv with --pdeathsig: apt-get install util-linux");
    StringBuilder reported = new StringBuilder();
    Child child =
        Child.start(
            new Child.Plan(
                "short-lived",
                List.of("sh", "-c", "echo up; echo ouch; kill -9 $$"),
                Map.of(),
                "up"),
            watch,
            died -> reported.append(died.exitMessage()));
    child.awaitReady(SOON);
    awaitEndWellWithin(SOON, child);

    assertThat(reported).contains("short-lived has ended, killed by signal 9", "ouch");
  }

  /** After Ctrl-C, a JVM exits with status 130, or with 0 if its program does. */
  @ParameterizedTest
  @ValueSource(ints = {0, 130})
  void interruptedProcess_isNotReported(int status) throws Exception {
    StringBuilder reported = new StringBuilder();
    Child child =
        Child.start(
            new Child.Plan(
                "interrupted", List.of("sh", "-c", "echo up; exit " + status), Map.of(), "up"),
            ParentWatch.ofThisMachine(),
            died -> reported.append(died.exitMessage()));
    child.awaitReady(SOON);
    awaitEndWellWithin(SOON, child);

    assertThat(reported).isEmpty();
  }

  /** Checks that the wait is short: it is long if another process keeps the output open. */
  private static void awaitEndWellWithin(Duration limit, Child child) throws Exception {
    long start = System.nanoTime();
    child.awaitEnd(limit);
    assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(limit.dividedBy(2));
  }

  private static boolean isAlive(long pid) {
    return ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false);
  }

  private static boolean endsWithin(long pid, Duration limit) throws Exception {
    long end = System.nanoTime() + limit.toNanos();
    while (isAlive(pid) && System.nanoTime() < end) {
      TimeUnit.MILLISECONDS.sleep(10);
    }
    return !isAlive(pid);
  }

  /** A process with a sleeping child that must end with it; it prints the child's pid. */
  static final class WatchedParent {

    private WatchedParent() {}

    public static void main(String[] arguments) throws IOException, InterruptedException {
      Child child =
          Child.start(
              new Child.Plan(
                  "sleeper", List.of("sh", "-c", "echo pid $$; exec sleep 600"), Map.of(), "pid"),
              ParentWatch.valueOf(arguments[0]),
              died -> {});
      System.out.println(child.awaitReady(SOON).replace("pid ", ""));
      Thread.sleep(SOON.toMillis());
    }
  }
}
