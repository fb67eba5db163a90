package io.inferspan.pd.telemetry;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;

/** Reads a sidecar's metrics as Prometheus does. */
public final class Scrape implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final long PAUSE_NANOS = MILLISECONDS.toNanos(20);

  private final int port;
  private final HttpClient http = HttpClient.newHttpClient();

  public Scrape(int port) {
    this.port = port;
  }

  public int port() {
    return port;
  }

  /** Returns the response to a scraper with this Accept header. */
  public String text(String accept) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/metrics"))
            .version(HttpClient.Version.HTTP_1_1)
            .header("accept", accept)
            .build();
    try {
      return http.send(request, BodyHandlers.ofString()).body();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  /** Returns all samples by their name with its labels. */
  public Map<String, Double> samples() {
    Map<String, Double> samples = new TreeMap<>();
    text("text/plain")
        .lines()
        .filter(line -> !line.startsWith("#"))
        .forEach(
            line -> {
              int blank = line.lastIndexOf(' ');
              samples.put(line.substring(0, blank), Double.valueOf(line.substring(blank + 1)));
            });
    return samples;
  }

  /** Waits until all samples with this prefix are zero; returns all samples at that time. */
  public Map<String, Double> awaitZero(String name) {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    Map<String, Double> samples = samples();
    while (!zero(samples, name)) {
      if (System.nanoTime() - deadline > 0) {
        throw new AssertionError(name + " did not go back to zero: " + samples);
      }
      LockSupport.parkNanos(PAUSE_NANOS);
      samples = samples();
    }
    return samples;
  }

  private static boolean zero(Map<String, Double> samples, String name) {
    return samples.entrySet().stream()
        .filter(sample -> sample.getKey().startsWith(name))
        .allMatch(sample -> sample.getValue() == 0);
  }

  @Override
  public void close() {
    http.close();
  }
}
