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

/** One process of the demo: started, listened to, and ended. */
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
   * @param name what it is called here
   * @param command program and arguments
   * @param environment what is set besides what this process has
   * @param readyWhen part of the line by which it says that it serves
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
   * <p>To be called by a thread that stays: to the kernel that thread is the parent.
   *
   * @param died told if it ends before it is asked to
   */
  static Child start(Plan plan, Leash leash, Consumer<Child> died) throws IOException {
    ProcessBuilder builder = new ProcessBuilder(leash.on(plan.command())).redirectErrorStream(true);
    builder.environment().keySet().removeIf(Child::setsUpAnother);
    builder.environment().putAll(plan.environment());
    Child child = new Child(plan, builder.start(), died);
    child.reader.start();
    return child;
  }

  /** What the user has set for programs of their own would lead spans elsewhere. */
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
    boolean early = ready.completeExceptionally(new IllegalStateException(obituary()));
    if (!ending && !early && !interrupted()) {
      died.accept(this);
    }
  }

  /**
   * By Ctrl-C, which ends all processes of the terminal at once: nobody needs to be told. Java then
   * ends with a status of its own, unless a program says, as the desk does, that all is well.
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
   * Waits until it says that it serves.
   *
   * @return the line by which it said so
   * @throws IllegalStateException with its last lines if it ends instead, or takes too long
   */
  String awaitReady(Duration limit) throws InterruptedException {
    try {
      return ready.get(limit.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      throw new IllegalStateException(obituary(), e);
    } catch (TimeoutException e) {
      throw new IllegalStateException(
          name() + " does not serve after " + limit.toSeconds() + " s" + saying(), e);
    }
  }

  /** The last thing it said; empty where it said nothing. */
  List<String> lastLines() {
    synchronized (last) {
      return List.copyOf(last);
    }
  }

  /** What became of it, with its last lines. */
  String obituary() {
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

  /** Tells it to end. */
  void tellToEnd() {
    ending = true;
    // The process's own destroy closes the pipe as well, and what it says last would be lost.
    boolean _ = process.toHandle().destroy();
  }

  /** Waits for its end and its last words, and makes an end when that takes too long. */
  void awaitEnd(Duration limit) throws InterruptedException {
    long until = System.nanoTime() + limit.toNanos();
    if (!process.waitFor(limit.toNanos(), TimeUnit.NANOSECONDS)) {
      process.destroyForcibly().waitFor();
    }
    boolean _ = reader.join(Duration.ofNanos(until - System.nanoTime()));
  }
}
