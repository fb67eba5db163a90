package io.inferspan.samples.ondesk;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The trace desk of the build, as a process on free ports. */
public final class DeskProcess implements AutoCloseable {

  private static final String JAR = "samples/desk/target/inferspan-desk.jar";
  private static final Pattern READY =
      Pattern.compile("desk: (http://\\S+) \\(OTLP over gRPC on (\\d+), over HTTP on (\\d+)\\)");

  private final HttpClient client = HttpClient.newHttpClient();
  private final Process process;
  private final URI page;
  private final Collector collector;

  /**
   * The addresses for exporters.
   *
   * @param grpc the base address, for OTLP over gRPC
   * @param httpTraces the whole address, for OTLP over HTTP
   */
  public record Collector(String grpc, String httpTraces) {}

  private DeskProcess(Process process, URI page, Collector collector) {
    this.process = process;
    this.page = page;
    this.collector = collector;
  }

  static DeskProcess start() throws IOException {
    Process process =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-XX:TieredStopAtLevel=1",
                    "-Xmx256m",
                    "-jar",
                    jar().toString(),
                    "--port=0",
                    "--otlp-http-port=0",
                    "--otlp-grpc-port=0"))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
    Matcher ready = READY.matcher(String.valueOf(out.readLine()));
    if (!ready.matches()) {
      process.destroyForcibly();
      throw new AssertionError("the desk does not start: " + ready);
    }
    Collector collector =
        new Collector(
            "http://127.0.0.1:" + ready.group(2),
            "http://127.0.0.1:" + ready.group(3) + "/v1/traces");
    return new DeskProcess(process, URI.create(ready.group(1)), collector);
  }

  private static Path jar() {
    for (Path folder = Path.of("").toAbsolutePath(); folder != null; folder = folder.getParent()) {
      if (Files.exists(folder.resolve(JAR))) {
        return folder.resolve(JAR);
      }
    }
    throw new AssertionError(JAR + " is not built: mvn -Dquick -pl samples/desk -am package");
  }

  Collector collector() {
    return collector;
  }

  /** Returns the list of requests that match, as JSON. */
  String requests(String search) throws IOException, InterruptedException {
    URI asked = page.resolve("/api/requests?q=" + search);
    return client
        .send(HttpRequest.newBuilder(asked).build(), HttpResponse.BodyHandlers.ofString())
        .body();
  }

  @Override
  public void close() {
    client.close();
    process.destroy();
    process.onExit().join();
  }
}
