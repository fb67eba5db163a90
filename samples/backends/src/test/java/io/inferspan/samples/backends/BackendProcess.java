package io.inferspan.samples.backends;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** A server in a separate process, queried over HTTP. */
final class BackendProcess implements AutoCloseable {

  private static final Duration START = Duration.ofSeconds(60);

  private final HttpClient client =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(Duration.ofSeconds(2))
          .build();
  private final Process process;
  private final Path log;

  private BackendProcess(Process process, Path log) {
    this.process = process;
    this.log = log;
  }

  /** Starts {@code java} with these arguments. */
  static BackendProcess java(List<String> words, Map<String, String> environment)
      throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(words);
    Path log = Files.createTempFile("backend", ".log");
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile());
    builder.environment().putAll(environment);
    return new BackendProcess(builder.start(), log);
  }

  static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  /** Waits until the server serves this page. */
  void awaitReady(String url) throws IOException, InterruptedException {
    await(url, page -> true, START);
  }

  /** Polls a page until it matches, and returns it. */
  String await(String url, Predicate<String> good, Duration limit)
      throws IOException, InterruptedException {
    long end = System.nanoTime() + limit.toNanos();
    String last = "";
    while (System.nanoTime() < end && process.isAlive()) {
      HttpResponse<String> answer = get(url);
      if (answer != null) {
        last = answer.statusCode() + " " + answer.body();
        if (answer.statusCode() == 200 && good.test(answer.body())) {
          return answer.body();
        }
      }
      Thread.sleep(100);
    }
    throw new AssertionError(
        url + " says " + last + "; the server says:\n" + Files.readString(log));
  }

  private @Nullable HttpResponse<String> get(String url) throws InterruptedException {
    try {
      return client.send(
          HttpRequest.newBuilder(URI.create(url)).timeout(Duration.ofSeconds(5)).build(),
          HttpResponse.BodyHandlers.ofString());
    } catch (IOException e) {
      return null;
    }
  }

  @Override
  public void close() throws IOException, InterruptedException {
    client.close();
    process.destroy();
    if (!process.waitFor(Duration.ofSeconds(10))) {
      process.destroyForcibly().waitFor();
    }
    Files.delete(log);
  }
}
