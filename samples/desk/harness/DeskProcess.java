import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A desk in its own process, whose CPU time and memory are read from {@code /proc}. */
final class DeskProcess implements AutoCloseable {
  private static final long NANOS_PER_TICK = 10_000_000; // USER_HZ is 100 on every Linux
  private static final Pattern READY =
      Pattern.compile("desk: http://127\\.0\\.0\\.1:(\\d+)/ \\(OTLP over gRPC on (\\d+),.*");

  private final HttpClient client = HttpClient.newHttpClient();
  private final Process process;
  private final int port;
  private final int otlpPort;

  /** Starts a desk on its own core. */
  static DeskProcess onOneCore(String heap, String flag) throws IOException {
    return new DeskProcess(
        System.getProperty("bench.core"), List.of("-Xmx" + heap, "-XX:+UseSerialGC"), flag);
  }

  /** Starts a desk on all cores, with the JVM's default garbage collector. */
  static DeskProcess onAllCores(String heap, String flag) throws IOException {
    int last = Integer.getInteger("bench.cores") - 1;
    return new DeskProcess("0-" + last, List.of("-Xmx" + heap), flag);
  }

  private DeskProcess(String cores, List<String> options, String flag) throws IOException {
    List<String> command = new ArrayList<>();
    command.addAll(List.of("taskset", "-c", cores, System.getProperty("bench.java")));
    command.addAll(options);
    command.addAll(List.of("-jar", System.getProperty("bench.jar"), flag));
    command.addAll(List.of("--port=0", "--otlp-http-port=0", "--otlp-grpc-port=0"));
    process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    BufferedReader output = process.inputReader(StandardCharsets.UTF_8);
    Matcher ready = READY.matcher(String.valueOf(output.readLine()));
    if (!ready.matches()) {
      throw new IOException("the desk did not start; its error output is above");
    }
    port = Integer.parseInt(ready.group(1));
    otlpPort = Integer.parseInt(ready.group(2));
  }

  String otlpEndpoint() {
    return "http://127.0.0.1:" + otlpPort;
  }

  double cpuSeconds() throws IOException {
    String stat = Files.readString(Path.of("/proc/" + process.pid() + "/stat"));
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
    return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) * NANOS_PER_TICK / 1e9;
  }

  /** Returns the desk's peak memory in megabytes. */
  long peakMegabytes() throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc/" + process.pid() + "/status"))) {
      if (line.startsWith("VmHWM:")) {
        return Long.parseLong(line.replaceAll("\\D", "")) * 1_024 / 1_000_000;
      }
    }
    throw new IOException("the desk's process has ended");
  }

  String get(String path) throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build();
    HttpResponse<String> answer = client.send(request, HttpResponse.BodyHandlers.ofString());
    if (answer.statusCode() != 200) {
      throw new IOException("GET " + path + " was answered with HTTP status " + answer.statusCode());
    }
    return answer.body();
  }

  /** Returns a number of {@code /api/stats}; 0 if it is absent. */
  long stat(String name) throws IOException, InterruptedException {
    Matcher found = Pattern.compile("\"" + name + "\":(\\d+)").matcher(get("/api/stats"));
    return found.find() ? Long.parseLong(found.group(1)) : 0;
  }

  @Override
  public void close() {
    client.close();
    process.destroy();
    try {
      process.waitFor(10, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    process.destroyForcibly();
  }
}
