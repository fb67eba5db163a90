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

/** A process of the demo: starts it, reads its output and ends it. */
final class Child {

  private static final int KEPT_LINES = 12;
  private static final int SIGNALLED = 128;
  private static final int INTERRUPTED = SIGNALLED + 2;

  private final Plan plan;
  private final Process process;
  private final Deque<String> last = new ArrayDeque<>();
  private final CompletableFuture<String> ready = new CompletableFuture<>();
  private final Thread reader;
  private volatile boolean ending;

  /**
   * How a process is started.
   *
   * @param name its name in the demo
   * @param command program and arguments
   * @param environment variables in addition to those of this process
   * @param readyWhen part of the line that it prints when it serves
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
   * <p>The calling thread must live on: to the kernel, that thread is the parent.
   *
   * @param died called if it ends before the demo ends it
   */
  static Child start(Plan plan, ParentWatch parentWatch, Consumer<Child> died) throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(parentWatch.wrap(plan.command())).redirectErrorStream(true);
    builder.environment().keySet().removeIf(Child::setsUpAnother);
    builder.environment().putAll(plan.environment());
    Child child = new Child(plan, builder.start(), died);
    child.reader.start();
    return child;
  }

  /** Settings of the user's environment would send spans elsewhere. */
  private static boolean setsUpAnother(String variable) {
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
      keep("(its output broke: " + e.getMessage() + ")");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    boolean early = ready.completeExceptionally(new IllegalStateException(exitMessage()));
    if (!ending && !early && !interrupted()) {
      died.accept(this);
    }
  }

  /**
   * Ctrl-C ends all processes of the terminal at once, which is no failure. Java then ends with its
   * own status, unless a program, such as the desk, exits with 0.
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
   * Waits until it serves.
   *
   * @return the line that said so
   * @throws IllegalStateException with its last lines if it ends instead, or takes too long
   */
  String awaitReady(Duration limit) throws InterruptedException {
    try {
      return ready.get(limit.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      throw new IllegalStateException(exitMessage(), e);
    } catch (TimeoutException e) {
      throw new IllegalStateException(
          name() + " does not serve after " + limit.toSeconds() + " s" + saying(), e);
    }
  }

  /** Returns its last lines of output; empty if there are none. */
  List<String> lastLines() {
    synchronized (last) {
      return List.copyOf(last);
    }
  }

  /** Returns how it ended, with its last lines. */
  String exitMessage() {
    String how = process.isAlive() ? "has closed its output" : "has ended, " + manner();
    return name() + " " + how + saying();
  }

  private String manner() {
    int status = process.exitValue();
    return status > SIGNALLED
        ? "killed by signal " + (status - SIGNALLED)
        : "with status " + status;
  }

  private String saying() {
    List<String> lines = lastLines();
    return lines.isEmpty()
        ? "; it said nothing"
        : "; its last lines:\n    " + String.join("\n    ", lines);
  }

  /** Asks it to end. */
  void terminate() {
    ending = true;
    // Process.destroy also closes the pipe, and its last lines would be lost.
    boolean _ = process.toHandle().destroy();
  }

  /** Waits until it has ended and its output is read; kills it if that takes too long. */
  void awaitEnd(Duration limit) throws InterruptedException {
    long until = System.nanoTime() + limit.toNanos();
    if (!process.waitFor(limit.toNanos(), TimeUnit.NANOSECONDS)) {
      process.destroyForcibly().waitFor();
    }
    boolean _ = reader.join(Duration.ofNanos(until - System.nanoTime()));
  }
}
