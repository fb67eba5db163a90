package io.inferspan.ebpf.coldstart;

import static java.nio.charset.StandardCharsets.UTF_8;

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

/** Notices that a server is ready; what comes first counts. */
public final class Readiness {

  private static final int POLL_MILLIS = 20;
  private static final int ANSWER_MILLIS = 2_000;
  private static final int HUNDRED = 100;
  private static final int SUCCESSFUL = 2;

  private final CompletableFuture<Ready> ready = new CompletableFuture<>();

  /** How it was known. */
  public enum Cause {
    URL("ready, by an answer of its URL,"),
    LOG("ready, by its output,"),
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

  /** Since when, on CLOCK_MONOTONIC. */
  public record Ready(Cause cause, long nanos) {}

  /** Completes once. */
  public CompletableFuture<Ready> ready() {
    return ready;
  }

  /** It is so now. */
  public void now(Cause cause) {
    boolean ignored = ready.complete(new Ready(cause, Clocks.monotonicNanos()));
  }

  /** Ready with the first answer of 200 to 299, asked for fifty times a second. */
  public void whenAnswering(URL url) {
    Thread.ofVirtual()
        .start(
            () -> {
              while (!ready.isDone()) {
                if (answers(url)) {
                  now(Cause.URL);
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

  /** Ready with the first line in which the pattern is found; passes all lines on. */
  public void whenLogged(Process process, Pattern pattern, PrintStream out) {
    Thread.ofPlatform()
        .daemon()
        .name("inferspan-output")
        .start(
            () -> {
              try (BufferedReader lines =
                  new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8))) {
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                  if (pattern.matcher(line).find()) {
                    now(Cause.LOG);
                  }
                  out.println(line);
                }
              } catch (IOException ended) {
                out.flush();
              }
            });
  }

  /** At the latest when the process ends. */
  public void whenEnded(ProcessHandle process) {
    var ignored = process.onExit().thenRun(() -> now(Cause.EXIT));
  }
}
