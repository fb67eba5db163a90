package io.inferspan.samples.desk.page;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The desk as users run it: a separate process that prints its address. */
final class DeskProcess implements AutoCloseable {

  private static final Pattern READY =
      Pattern.compile("desk: (http://\\S+) \\(OTLP over gRPC on \\d+, over HTTP on (\\d+)\\)");

  private final Process process;
  private final URI page;
  private final int otlpPort;
  private final Path stacks;

  private DeskProcess(Process process, URI page, int otlpPort, Path stacks) {
    this.process = process;
    this.page = page;
    this.otlpPort = otlpPort;
    this.stacks = stacks;
  }

  /** Starts a desk whose page is on this port, or on a free one if it is 0. */
  static DeskProcess start(int pagePort) {
    Path stacks = directory();
    ProcessBuilder builder =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-Xmx256m",
                    "-XX:+UseSerialGC",
                    "-XX:TieredStopAtLevel=1",
                    "-cp",
                    System.getProperty("java.class.path"),
                    "io.inferspan.samples.desk.DeskMain",
                    "--port=" + pagePort,
                    "--stacks=" + stacks,
                    "--otlp-http-port=0",
                    "--otlp-grpc-port=0"))
            .redirectError(ProcessBuilder.Redirect.INHERIT);
    try {
      return ready(builder.start(), stacks);
    } catch (IOException e) {
      throw new AssertionError("the desk did not start", e);
    }
  }

  private static Path directory() {
    try {
      Path directory = Files.createTempDirectory("desk-stacks");
      directory.toFile().deleteOnExit();
      return directory;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static DeskProcess ready(Process process, Path stacks) throws IOException {
    BufferedReader said = process.inputReader(StandardCharsets.UTF_8);
    for (String line = said.readLine(); line != null; line = said.readLine()) {
      Matcher ready = READY.matcher(line);
      if (ready.find()) {
        return new DeskProcess(
            process, URI.create(ready.group(1)), Integer.parseInt(ready.group(2)), stacks);
      }
    }
    throw new AssertionError("the desk ended before it was ready");
  }

  URI page() {
    return page;
  }

  URI otlp() {
    return page.resolve("http://" + page.getHost() + ":" + otlpPort + "/v1/traces");
  }

  /** Returns the desk's directory of recorded stacks. */
  Path stacks() {
    return stacks;
  }

  /** Kills the desk, like a crash. */
  void kill() {
    process.destroyForcibly().onExit().join();
  }

  @Override
  public void close() {
    process.destroy();
    if (!process.onExit().orTimeout(10, TimeUnit.SECONDS).isDone()) {
      process.onExit().completeOnTimeout(process, 10, TimeUnit.SECONDS).join();
      process.destroyForcibly();
    }
  }
}
