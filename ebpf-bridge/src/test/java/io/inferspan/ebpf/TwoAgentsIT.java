package io.inferspan.ebpf;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.ebpf.cli.EbpfTool;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.otlp.OtlpReceiver;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * Two agents, each with an engine; one compares its clock with the other's. Both have the same
 * clock, so the true offset is 0, but a request and its response take unequally long.
 */
class TwoAgentsIT {

  private static final Pattern METRICS = Pattern.compile("http://localhost:([0-9]+)/metrics");
  private static final String ERROR = "inferspan_ebpf_clock_reference_error_seconds";
  private static final long THERE_MILLIS = 1;
  private static final long BACK_MILLIS = 9;

  /** Half of the time that a request and its response take. */
  private static final double MIN_ERROR_MS = (THERE_MILLIS + BACK_MILLIS) / 2.0;

  private int requests;

  @Test
  void referenceIsRestarted_trueOffsetStaysWithinTheBound() throws Exception {
    TestKit.assumeEngine();
    try (OtlpReceiver receiver = OtlpReceiver.start();
        JavaChild ours = engine();
        JavaChild theirs = engine()) {
      int port = Integer.parseInt(ours.line());
      Agent reference = Agent.start(receiver, theirs, "none", 0);
      try (DelayingProxy proxy = DelayingProxy.to(reference.port, THERE_MILLIS, BACK_MILLIS);
          Agent agent = Agent.start(receiver, ours, "127.0.0.1:" + proxy.port(), 0)) {
        Eventually.is("an offset", () -> agent.metric(ERROR) > 0);
        double before = agent.metric(ERROR);
        serve(port, 3);

        reference.close();
        Eventually.is("a wider bound", () -> agent.metric(ERROR) > before + 100e-6);
        double alone = agent.metric(ERROR);
        serve(port, 3);
        try (Agent back = Agent.start(receiver, theirs, "none", reference.port)) {
          assertThat(back.port).isEqualTo(reference.port);
          // The next exchange is over a new connection, so its estimate starts anew.
          Eventually.is("a new estimate", () -> agent.metric(ERROR) < alone);
          serve(port, 3);
        }
      } finally {
        reference.close();
      }
      Eventually.is("the steps", () -> steps(receiver).size() >= requests);
      assertThat(steps(receiver)).allSatisfy(TwoAgentsIT::assertWithinBound);
    }
  }

  private static void assertWithinBound(SpanRecord step) {
    assertThat(millis(step, "clock.error_ms")).isGreaterThanOrEqualTo(MIN_ERROR_MS);
    assertThat(Math.abs(millis(step, "clock.offset_ms")))
        .isLessThanOrEqualTo(millis(step, "clock.error_ms"));
  }

  private static double millis(SpanRecord step, String attribute) {
    return (Double) Objects.requireNonNull(step.attribute(attribute), step::toString);
  }

  private static List<SpanRecord> steps(OtlpReceiver receiver) {
    return receiver.spans().stream()
        .filter(span -> span.name().equals("llm_d.engine.step"))
        .toList();
  }

  private static JavaChild engine() throws IOException {
    Path kit = TestKit.directory();
    return JavaChild.start(
        List.of(
            "/usr/bin/python3",
            TestKit.script("engine/engine").toString(),
            "--sync",
            "--libraries",
            kit.toString()),
        EngineRun.environment(kit));
  }

  /** Sends requests one after the other; each has at least one step. */
  private void serve(int port, int times) throws Exception {
    try (HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
      for (int i = 0; i < times; i++) {
        requests++;
        HttpRequest request =
            HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/v1/completions"))
                .header("content-type", "application/json")
                .header("x-request-id", "r" + requests)
                .header("traceparent", "00-" + "%032x".formatted(requests) + "-00000000000000aa-01")
                .POST(BodyPublishers.ofString("{\"prompt\": [1, 2], \"max_tokens\": 3}"))
                .build();
        assertThat(client.send(request, BodyHandlers.ofString()).statusCode()).isEqualTo(200);
      }
    }
  }

  /** An agent in a process of its own, which observes one engine. */
  private record Agent(JavaChild process, int port) implements AutoCloseable {

    static Agent start(OtlpReceiver receiver, JavaChild engine, String reference, int port) {
      String command =
          String.join(
              " ",
              "exec",
              Path.of(System.getProperty("java.home"), "bin", "java").toString(),
              "-XX:TieredStopAtLevel=1 -Xmx256m --enable-native-access=ALL-UNNAMED -cp",
              System.getProperty("java.class.path"),
              EbpfTool.class.getName(),
              "agent --pid",
              Long.toString(engine.pid()),
              "--metrics-port",
              port + " 2>&1");
      Map<String, String> environment = new HashMap<>();
      environment.put("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.endpoint());
      environment.put("OTEL_TRACES_SAMPLER", "always_on");
      environment.put("OTEL_BSP_SCHEDULE_DELAY", "100");
      if (!reference.equals("none")) {
        environment.put("INFERSPAN_EBPF_CLOCK_REFERENCE", reference);
      }
      JavaChild process = JavaChild.start(List.of("/bin/sh", "-c", command), environment);
      int serves = 0;
      for (String line = process.line(); !line.contains("ready: "); line = process.line()) {
        Matcher metrics = METRICS.matcher(line);
        serves = metrics.find() ? Integer.parseInt(metrics.group(1)) : serves;
      }
      return new Agent(process, serves);
    }

    double metric(String name) {
      try (HttpClient client = HttpClient.newHttpClient()) {
        String text =
            client
                .send(
                    HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/metrics"))
                        .build(),
                    BodyHandlers.ofString())
                .body();
        Matcher value = Pattern.compile("(?m)^" + name + " (\\S+)$").matcher(text);
        return value.find() ? Double.parseDouble(value.group(1)) : Double.NaN;
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new AssertionError(e);
      }
    }

    /** Kills the agent with SIGKILL. */
    @Override
    public void close() {
      process.kill();
    }
  }
}
