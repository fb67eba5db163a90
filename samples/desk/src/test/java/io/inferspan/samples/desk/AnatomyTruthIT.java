package io.inferspan.samples.desk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.inferspan.samples.desk.TimingProxy.TimedRequest;
import io.inferspan.testing.engine.EngineScript;
import io.inferspan.testing.engine.FakeEngine;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Compares the desk's parts of the time to the first token with the actual times of a hundred
 * random requests, which go through a gateway and a P/D sidecar as processes to two engines that
 * follow scripts.
 *
 * <p>The truth does not come from spans. A clock on the wire records when requests enter the
 * gateway and each engine, and when their first tokens leave. In between, an engine follows its
 * script: it queues a request for a given time, then computes for a given time before the first
 * token.
 *
 * <p>A request with a larger difference than allowed is a failure, unless the kernel counted that
 * these programs waited that long for a CPU: then no clock can be right, and another request is
 * sent instead.
 */
class AnatomyTruthIT {

  private static final long SEED = Long.getLong("anatomy.seed", 20_261_121L);
  private static final int REQUESTS = 100;
  private static final int MAX_REQUESTS = 4 * REQUESTS;

  /** The number of first requests, which are not judged because new JVMs are slow. */
  private static final int WARM_UP_REQUESTS = 20;

  private static final double ALLOWED_MILLIS = 2;
  private static final double SUM_MILLIS = 0.05;

  private final Random random = new Random(SEED);
  private final List<Double> late = new ArrayList<>();
  private double worstMillis;
  private int asked;
  private int starved;

  /** The times for which an engine queues a request, and then computes until the first token. */
  private record Phases(int queueMillis, int prefillMillis) {

    EngineScript script() {
      return EngineScript.builder()
          .tokens(3)
          .queue(Duration.ofMillis(queueMillis))
          .prefill(Duration.ofMillis(prefillMillis))
          .betweenTokens(Duration.ofMillis(2))
          .build();
    }
  }

  /** An engine behind a timing proxy, with its script. */
  private static final class Watched implements AutoCloseable {
    private final EngineTraces traces;
    private final FakeEngine engine;
    private final TimingProxy tap;
    private Phases playing = new Phases(0, 0);

    Watched(String name, RunningDesk desk) throws IOException {
      traces = new EngineTraces(name, desk.otlpGrpcPort());
      engine = FakeEngine.builder().openTelemetry(traces.openTelemetry()).start();
      tap = new TimingProxy(engine.port());
    }

    void play(Phases phases) {
      playing = phases;
      engine.script(phases.script());
    }

    @Override
    public void close() throws IOException {
      tap.close();
      engine.close();
      traces.close();
    }
  }

  @Test
  void parts_matchTheTimesOnTheWire() throws Exception {
    assumeTrue(
        Files.exists(StackProcess.GATEWAY), "samples/vertx-gateway is built before this module");
    System.out.println("anatomy.seed=" + SEED);
    int judged = 0;
    try (RunningDesk desk = RunningDesk.start();
        Watched prefiller = new Watched("vllm-prefill", desk);
        Watched decoder = new Watched("vllm-decode", desk);
        StackProcess sidecar = StackProcess.sidecar(desk.otlpEndpoint(), decoder.tap.port());
        StackProcess gateway =
            StackProcess.gateway(
                desk.otlpEndpoint(), sidecar.authority(), prefiller.tap.authority());
        TimingProxy client = new TimingProxy(gateway.port())) {
      CpuWaits waits =
          new CpuWaits(List.of(ProcessHandle.current().pid(), sidecar.pid(), gateway.pid()));
      while (judged < REQUESTS) {
        assertThat(asked).as("requests; %d with CPU waits", starved).isLessThan(MAX_REQUESTS);
        boolean disaggregated = asked % 2 == 0;
        prefiller.play(phases());
        decoder.play(phases());
        String trace = HexFormat.of().toHexDigits(random.nextLong() | 1).repeat(2);
        waits.begin();
        ask(desk, client, trace, prompt(asked++, disaggregated));
        double waitedMillis = waits.millis();
        ShownAnatomy shown = new ShownAnatomy(await(desk, trace, disaggregated ? 4 : 3));
        shown.compare(client.take());
        compare(shown, decoder, disaggregated);
        if (disaggregated) {
          compare(shown, prefiller, false);
        }
        judged += asked > WARM_UP_REQUESTS && holds(shown, waitedMillis) ? 1 : 0;
      }
    }
    System.out.printf(
        Locale.ROOT,
        "anatomy: off by %.3f ms at most; %d more were asked for want of a processor%n",
        worstMillis,
        starved);
    Collections.sort(late);
    assertThat(late.getFirst()).isGreaterThan(-ALLOWED_MILLIS);
    assertThat(late.get(late.size() / 2)).isLessThan(2 * ALLOWED_MILLIS);
  }

  /** A decoder that receives blocks waits for these, and its first token is not from a prefill. */
  private void compare(ShownAnatomy shown, Watched engine, boolean receives)
      throws InterruptedException {
    TimedRequest timed = engine.tap.take();
    Phases playing = engine.playing;
    String waiting = receives ? "transfer" : "queue";
    String computing = receives ? "first_decode" : "prefill";
    shown.compare(waiting, computing, timed, playing.queueMillis, playing.prefillMillis);
    late.add(timed.tookMillis() - playing.queueMillis - playing.prefillMillis);
  }

  /** Returns whether the difference is allowed; false if the comparison is not valid. */
  private boolean holds(ShownAnatomy shown, double waitedMillis) {
    assertThat(shown.sumMillis())
        .as(shown.toString())
        .isCloseTo(shown.ttftMillis(), within(SUM_MILLIS));
    assertThat(shown.has("schedule")).as(shown.toString()).isTrue();
    double tooMuch = shown.offMillis() - ALLOWED_MILLIS;
    if (tooMuch <= 0) {
      worstMillis = Math.max(worstMillis, shown.offMillis());
      return true;
    }
    assertThat(tooMuch)
        .as("%s, with %.3f ms of CPU waits", shown, waitedMillis)
        .isLessThan(waitedMillis);
    starved++;
    return false;
  }

  private Phases phases() {
    return new Phases(1 + random.nextInt(20), 5 + random.nextInt(40));
  }

  /**
   * Creates prompts with distinct beginnings, so no cache has them; long ones use remote prefill.
   */
  private static String prompt(int number, boolean isLong) {
    return "request " + number + " word".repeat(isLong ? 640 : 10);
  }

  private static void ask(RunningDesk desk, TimingProxy gateway, String trace, String prompt)
      throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://" + gateway.authority() + "/v1/chat/completions"))
            .header("content-type", "application/json")
            .header("traceparent", "00-" + trace + "-00f067aa0ba902b7-01")
            .POST(
                HttpRequest.BodyPublishers.ofString(
                    """
                    {"model":"tiny","stream":true,"messages":[{"role":"user","content":"%s"}]}\
                    """
                        .formatted(prompt)))
            .build();
    HttpResponse<String> answer = desk.client().send(request, HttpResponse.BodyHandlers.ofString());
    assertThat(answer.statusCode()).isEqualTo(200);
  }

  /** Waits for the spans of the gateway, the proxy, and an engine for each stage. */
  @SuppressWarnings("unchecked")
  private static Map<String, Object> await(RunningDesk desk, String trace, int services)
      throws IOException, InterruptedException {
    return desk.await(
        "/api/traces/" + trace,
        json -> {
          Map<String, Object> summary = (Map<String, Object>) json.get("summary");
          return summary != null
              && "ok".equals(summary.get("status"))
              && summary.containsKey("ttftMs")
              && ((List<Object>) RunningDesk.member(summary, "services")).size() == services
              && json.containsKey("pd");
        });
  }
}
