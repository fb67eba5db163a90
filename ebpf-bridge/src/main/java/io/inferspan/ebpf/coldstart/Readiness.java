package io.inferspan.ebpf.coldstart;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.concurrent.TimeUnit.MILLISECONDS;

import io.inferspan.ebpf.linux.Clocks;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.HttpURLConnection;
import java.net.URL;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;

/**
 * Detects the end of a start: the server is ready or has ended, or the user interrupts it. Only the
 * first of these events counts.
 */
public final class Readiness {

  private static final int POLL_MILLIS = 20;
  private static final int ANSWER_MILLIS = 2_000;
  private static final int LAST_LINES_MILLIS = 1_000;
  private static final int HUNDRED = 100;
  private static final int SUCCESSFUL = 2;

  private final CompletableFuture<Ready> ready = new CompletableFuture<>();

  /** Completes when all output was read. */
  private CompletableFuture<Void> output = CompletableFuture.completedFuture(null);

  /** The event that ended the start. */
  public enum Cause {
    URL("ready (its URL answered)"),
    LOG("ready (its output matched)"),
    EXIT("ended"),
    INTERRUPTED("interrupted");

    private final String sentence;

    Cause(String sentence) {
      this.sentence = sentence;
    }

    String sentence() {
      return sentence;
    }

    String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** The end of the start: its cause, and its time on CLOCK_MONOTONIC. */
  public record Ready(Cause cause, long nanos) {}

  /** Returns a future that completes at the end of the start. */
  public CompletableFuture<Ready> ready() {
    return ready;
  }

  /** Reports an event that ends the start; only the first one counts. */
  public void report(Cause cause) {
    boolean ignored = ready.complete(new Ready(cause, Clocks.monotonicNanos()));
  }

  /** Polls a URL fifty times a second until it answers with a status from 200 to 299. */
  public void whenAnswering(URL url) {
    Thread.ofVirtual()
        .start(
            () -> {
              while (!ready.isDone()) {
                if (answers(url)) {
                  report(Cause.URL);
                }
                pause();
              }
            });
  }

  private static boolean answers(URL url) {
    try {
      HttpURLConnection connection = (HttpURLConnection) url.openConnection();
      connection.setConnectTimeout(ANSWER_MILLIS);
      connection.setReadTimeout(ANSWER_MILLIS);
      boolean successful = connection.getResponseCode() / HUNDRED == SUCCESSFUL;
      connection.disconnect();
      return successful;
    } catch (IOException notYet) {
      return false;
    }
  }

  private static void pause() {
    try {
      Thread.sleep(POLL_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Waits for the first line of output that matches the pattern, and copies all lines to {@code
   * out}. Must be called before {@link #whenEnded}.
   */
  public void whenLogged(Process process, Pattern pattern, PrintStream out) {
    CompletableFuture<Void> all = new CompletableFuture<>();
    output = all;
    Thread.ofPlatform()
        .daemon()
        .name("inferspan-output")
        .start(
            () -> {
              try (BufferedReader lines =
                  new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8))) {
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                  if (pattern.matcher(line).find()) {
                    report(Cause.LOG);
                  }
                  out.println(line);
                }
              } catch (IOException ended) {
                out.flush();
              } finally {
                all.complete(null);
              }
            });
  }

  /**
   * Reports the exit of the process after its last lines were read. A descendant may keep the
   * output open, so this waits for a second at most.
   */
  public void whenEnded(ProcessHandle process) {
    CompletableFuture<Void> lastLines = output;
    var ignored =
        process
            .onExit()
            .thenApply(ended -> new Ready(Cause.EXIT, Clocks.monotonicNanos()))
            .thenCompose(
                exit ->
                    lastLines
                        .completeOnTimeout(null, LAST_LINES_MILLIS, MILLISECONDS)
                        .thenApply(all -> exit))
            .thenApply(ready::complete);
  }
}
