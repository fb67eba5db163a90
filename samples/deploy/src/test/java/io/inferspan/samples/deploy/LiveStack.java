package io.inferspan.samples.deploy;

import io.inferspan.testing.engine.EngineScript;
import io.inferspan.testing.engine.FakeEngine;
import io.inferspan.testing.otlp.OtlpReceiver;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

/**
 * Gateway and sidecar with the arguments and variables of the manifests, in front of simulated
 * engines. Only ports and hosts differ, because all run on one machine.
 */
final class LiveStack implements AutoCloseable {

  static final String TRACE = "0af7651916cd43dd8448eb211c80319c";

  private static final long START_SECONDS = 40;

  private final OtlpReceiver collector = OtlpReceiver.start();
  private final FakeEngine prefill = FakeEngine.builder().script(EngineScript.normal()).start();
  private final FakeEngine decode = FakeEngine.builder().script(EngineScript.normal()).start();
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final Map<String, Integer> ports =
      Map.of(
          "gateway",
          free(),
          "gateway metrics",
          free(),
          "sidecar",
          free(),
          "sidecar metrics",
          free());
  private final Program.Running sidecar;
  private final Program.Running gateway;

  LiveStack() throws IOException, InterruptedException {
    Manifests manifests = Manifests.read();
    sidecar = start(Program.SIDECAR, manifests, this::sidecarArgument);
    gateway = start(Program.GATEWAY, manifests, this::gatewayArgument);
    awaitHealth("sidecar", sidecar);
    awaitHealth("gateway", gateway);
  }

  private Program.Running start(Program program, Manifests manifests, UnaryOperator<String> moved)
      throws IOException {
    Manifests.Container container = manifests.container(program.image());
    Map<String, String> environment = new HashMap<>();
    container.env().forEach((name, entry) -> environment.put(name, entry.at("value").text()));
    environment.put("OTEL_EXPORTER_OTLP_ENDPOINT", collector.endpoint());
    environment.put("OTEL_BSP_SCHEDULE_DELAY", "50");
    return program.start(container.args(moved), environment);
  }

  private String gatewayArgument(String argument) {
    return switch (argument.substring(0, argument.indexOf('=') + 1)) {
      case "--port=" -> "--port=" + ports.get("gateway");
      case "--metrics-port=" -> "--metrics-port=" + ports.get("gateway metrics");
      case "--decode=" -> "--decode=127.0.0.1:" + ports.get("sidecar");
      case "--prefill=" -> "--prefill=" + prefill.authority();
      default -> argument;
    };
  }

  private String sidecarArgument(String argument) {
    return switch (argument.substring(0, argument.indexOf('=') + 1)) {
      case "--port=" -> "--port=" + ports.get("sidecar");
      case "--metrics-port=" -> "--metrics-port=" + ports.get("sidecar metrics");
      case "--model-server-port=" -> "--model-server-port=" + decode.port();
      default -> argument;
    };
  }

  OtlpReceiver collector() {
    return collector;
  }

  FakeEngine prefill() {
    return prefill;
  }

  /** Sends a streamed request that is long enough for prefill on another pod. */
  HttpResponse<String> ask() throws IOException, InterruptedException {
    String body =
        "{\"model\":\"tiny\",\"stream\":true,\"stream_options\":{\"include_usage\":true},"
            + "\"max_tokens\":8,\"messages\":[{\"role\":\"user\","
            + "\"content\":\""
            + "is there a train at noon ".repeat(200)
            + "\"}]}";
    return client.send(
        request("gateway", "/v1/chat/completions")
            .header("content-type", "application/json")
            .header("traceparent", "00-" + TRACE + "-b7ad6b7169203331-01")
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build(),
        HttpResponse.BodyHandlers.ofString());
  }

  String scrape(String program) throws IOException, InterruptedException {
    return client
        .send(
            request(program + " metrics", "/metrics").build(), HttpResponse.BodyHandlers.ofString())
        .body();
  }

  private HttpRequest.Builder request(String port, String path) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + ports.get(port) + path));
  }

  private void awaitHealth(String port, Program.Running program)
      throws IOException, InterruptedException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
    while (!isHealthy(port)) {
      if (!program.process().isAlive() || System.nanoTime() > end) {
        throw new AssertionError("the " + port + " does not serve: " + program.said());
      }
      Thread.sleep(20);
    }
  }

  private boolean isHealthy(String port) throws InterruptedException {
    try {
      return client
              .send(request(port, "/health").build(), HttpResponse.BodyHandlers.discarding())
              .statusCode()
          == 200;
    } catch (IOException e) {
      return false;
    }
  }

  private static int free() {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  @Override
  public void close() throws IOException, InterruptedException {
    client.close();
    gateway.close();
    sidecar.close();
    prefill.close();
    decode.close();
    collector.close();
  }
}
