package io.inferspan.samples.demo;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/** A child process of the demo. */
final class Child {

  private static final int KEPT_LINES = 12;
  private static final int SIGNALLED = 128;
  private static final int INTERRUPTED = SIGNALLED + 2;

  private final Plan plan;
  private final Process process;
  private final Deque<String> last = new ArrayDeque<>();
  private final CompletableFuture<String> ready = new CompletableFuture<>();
  private final Thread reader;
  private volatile boolean terminating;

  /**
   * The command and environment of a process.
   *
   * @param name the name in the demo
   * @param command program and arguments
   * @param environment variables added to the environment of this process
   * @param readyWhen a part of the line that the process prints when it is ready
   */
  record Plan(
      String name, List<String> command, Map<String, String> environment, String readyWhen) {}

  private Child(Plan plan, Process process, Consumer<Child> died) {
    this.plan = plan;
    this.process = process;
    this.reader =
        Thread.ofPlatform().daemon().name("reads-" + plan.name()).unstarted(() -> read(died));
  }

  /**
   * Starts a process.
   *
   * <p>The calling thread must outlive the process: the kernel ends the process when this thread
   * ends.
   *
   * @param died called if the process, after it was ready, ends before the demo terminates it
   */
  static Child start(Plan plan, ParentWatch parentWatch, Consumer<Child> died) throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(parentWatch.wrap(plan.command())).redirectErrorStream(true);
    builder.environment().keySet().removeIf(Child::changesConfiguration);
    builder.environment().putAll(plan.environment());
    Child child = new Child(plan, builder.start(), died);
    child.reader.start();
    return child;
  }

  /**
   * Returns whether the variable would override settings of the demo, such as the backend of spans.
   */
  private static boolean changesConfiguration(String variable) {
    return variable.startsWith("OTEL_")
        || variable.startsWith("INFERSPAN_")
        || variable.startsWith("GATEWAY_");
  }

  private void read(Consumer<Child> died) {
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        keep(line);
        if (line.contains(plan.readyWhen())) {
          ready.complete(line);
        }
      }
      process.waitFor();
    } catch (IOException e) {
      keep("(cannot read its output: " + e.getMessage() + ")");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    boolean beforeReady = ready.completeExceptionally(new IllegalStateException(exitMessage()));
    if (!terminating && !beforeReady && !interrupted()) {
      died.accept(this);
    }
  }

  /**
   * Returns whether Ctrl-C ended the process. This is not a failure, because Ctrl-C ends all
   * processes of the terminal. A JVM then exits with status 130, or with 0 if the program, such as
   * the desk, exits by itself.
   */
  private boolean interrupted() {
    if (process.isAlive()) {
      return false;
    }
    int status = process.exitValue();
    return status == INTERRUPTED || status == 0;
  }

  private void keep(String line) {
    synchronized (last) {
      if (last.size() == KEPT_LINES) {
        last.removeFirst();
      }
      last.addLast(line);
    }
  }

  String name() {
    return plan.name();
  }

  long pid() {
    return process.pid();
  }

  boolean isAlive() {
    return process.isAlive();
  }

  /**
   * Waits until the process is ready.
   *
   * @return the line of output that contains {@link Plan#readyWhen}
   * @throws IllegalStateException if the process ends or takes too long; the message contains its
   *     last lines of output
   */
  String awaitReady(Duration limit) throws InterruptedException {
    try {
      return ready.get(limit.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      throw new IllegalStateException(exitMessage(), e);
    } catch (TimeoutException e) {
      throw new IllegalStateException(
          name() + " is not ready after " + limit.toSeconds() + " s" + lastLinesMessage(), e);
    }
  }

  /** Returns the last lines of output, at most twelve. */
  List<String> lastLines() {
    synchronized (last) {
      return List.copyOf(last);
    }
  }

  /** Returns a message that says how the process ended, with its last lines of output. */
  String exitMessage() {
    String how = process.isAlive() ? "has closed its output" : "has ended, " + exitReason();
    return name() + " " + how + lastLinesMessage();
  }

  private String exitReason() {
    int status = process.exitValue();
    return status > SIGNALLED
        ? "killed by signal " + (status - SIGNALLED)
        : "with status " + status;
  }

  private String lastLinesMessage() {
    List<String> lines = lastLines();
    return lines.isEmpty()
        ? "; it printed nothing"
        : "; its last lines:\n    " + String.join("\n    ", lines);
  }

  /** Sends SIGTERM. */
  void terminate() {
    terminating = true;
    // Process.destroy would also close the pipe and lose the last lines.
    boolean _ = process.toHandle().destroy();
  }

  /**
   * Waits until the process has ended and its output is read; kills the process if it takes too
   * long.
   */
  void awaitEnd(Duration limit) throws InterruptedException {
    long until = System.nanoTime() + limit.toNanos();
    if (!process.waitFor(limit.toNanos(), TimeUnit.NANOSECONDS)) {
      process.destroyForcibly().waitFor();
    }
    boolean _ = reader.join(Duration.ofNanos(until - System.nanoTime()));
  }
}
