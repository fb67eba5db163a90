package io.inferspan.samples.desk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.inferspan.semconv.Attribute;
import io.inferspan.semconv.GenAiAttributes;
import io.inferspan.testing.engine.EngineScript;
import io.inferspan.testing.engine.FakeEngine;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * What the desk says of the time to the first token, against what the engines did: a hundred random
 * requests through a gateway and a P/D sidecar as processes, to two engines that follow scripts.
 *
 * <p>The truth is what an engine measures of itself, taken in its own process. That it kept to its
 * script is looked at as well, in the median: a single timer may be late on a busy machine.
 */
class AnatomyTruthTest {

  private static final long SEED = Long.getLong("anatomy.seed", 20_261_121L);
  private static final int REQUESTS = 100;
  private static final double ALLOWED_MILLIS = 2;
  private static final double SUM_MILLIS = 0.05;

  private final Random random = new Random(SEED);
  private final List<Double> late = new ArrayList<>();
  private double worstMillis;

  /** How long an engine is told to queue a request and to compute its first token. */
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

  @Test
  void anatomy_isWhatTheEnginesDid() throws Exception {
    assumeTrue(
        Files.exists(StackProcess.GATEWAY), "samples/vertx-gateway is built before this module");
    System.out.println("anatomy.seed=" + SEED);
    try (RunningDesk desk = RunningDesk.start();
        EngineTraces prefillTraces = new EngineTraces("vllm-prefill", desk.otlpGrpcPort());
        EngineTraces decodeTraces = new EngineTraces("vllm-decode", desk.otlpGrpcPort());
        FakeEngine prefiller =
            FakeEngine.builder().openTelemetry(prefillTraces.openTelemetry()).start();
        FakeEngine decoder =
            FakeEngine.builder().openTelemetry(decodeTraces.openTelemetry()).start();
        StackProcess sidecar = StackProcess.sidecar(desk.otlpEndpoint(), decoder.port());
        StackProcess gateway =
            StackProcess.gateway(desk.otlpEndpoint(), sidecar.authority(), prefiller.authority())) {
      for (int i = 0; i < REQUESTS; i++) {
        boolean disaggregated = i % 2 == 0;
        Phases prefill = phases();
        Phases decode = phases();
        prefiller.script(prefill.script());
        decoder.script(decode.script());
        String trace = HexFormat.of().toHexDigits(random.nextLong() | 1).repeat(2);
        ask(desk, gateway, trace, prompt(i, disaggregated));

        Map<String, Double> truth = new LinkedHashMap<>();
        tell(truth, decodeTraces, trace, decode, disaggregated);
        if (disaggregated) {
          tell(truth, prefillTraces, trace, prefill, false);
        }
        check(desk, trace, truth);
      }
    }
    System.out.printf(Locale.ROOT, "anatomy: off by %.3f ms at most%n", worstMillis);
    Collections.sort(late);
    assertThat(late.getFirst()).isGreaterThan(-ALLOWED_MILLIS);
    assertThat(late.get(late.size() / 2)).isLessThan(ALLOWED_MILLIS);
  }

  private Phases phases() {
    return new Phases(1 + random.nextInt(20), 5 + random.nextInt(40));
  }

  /** No two begin alike, so that no cache has them; long ones are prefilled elsewhere. */
  private static String prompt(int number, boolean isLong) {
    return "request " + number + " word".repeat(isLong ? 640 : 10);
  }

  private static void ask(RunningDesk desk, StackProcess gateway, String trace, String prompt)
      throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://" + gateway.authority() + "/v1/chat/completions"))
            .header("content-type", "application/json")
            .header("traceparent", "00-" + trace + "-00f067aa0ba902b7-01")
            .POST(
                HttpRequest.BodyPublishers.ofString(
                    """
                    {"model":"tiny","stream":true,"messages":[{"role":"user","content":"%s"}]}"""
                        .formatted(prompt)))
            .build();
    HttpResponse<String> answer = desk.client().send(request, HttpResponse.BodyHandlers.ofString());
    assertThat(answer.statusCode()).isEqualTo(200);
  }

  /** Adds what an engine measured, and notes how late it was. */
  private void tell(
      Map<String, Double> truth,
      EngineTraces engine,
      String trace,
      Phases told,
      boolean afterPrefill) {
    double queue = millis(engine, trace, GenAiAttributes.LATENCY_TIME_IN_QUEUE);
    double prefill = millis(engine, trace, GenAiAttributes.LATENCY_TIME_IN_MODEL_PREFILL);
    truth.put(afterPrefill ? "transfer" : "queue", queue);
    truth.put(afterPrefill ? "first_decode" : "prefill", prefill);
    late.add(queue - told.queueMillis);
    late.add(prefill - told.prefillMillis);
  }

  private static double millis(EngineTraces engine, String trace, Attribute<Double> attribute) {
    Double seconds = engine.span(trace).getAttributes().get(attribute.key());
    return seconds == null ? Double.NaN : seconds * 1e3;
  }

  @SuppressWarnings("unchecked")
  private void check(RunningDesk desk, String trace, Map<String, Double> truth) throws Exception {
    Map<String, Object> view =
        desk.await(
            "/api/traces/" + trace,
            json -> {
              Map<String, Object> summary = (Map<String, Object>) json.get("summary");
              // The gateway's span, the proxy's, and an engine's for each stage.
              return summary != null
                  && "ok".equals(summary.get("status"))
                  && summary.containsKey("ttftMs")
                  && ((List<Object>) RunningDesk.member(summary, "services")).size()
                      == 2 + truth.size() / 2
                  && json.containsKey("pd");
            });
    Map<String, Object> anatomy = (Map<String, Object>) RunningDesk.member(view, "anatomy");
    Map<String, Double> parts = new LinkedHashMap<>();
    double sum = 0;
    for (Map<String, Object> part : RunningDesk.list(anatomy, "parts")) {
      double millis = (Double) RunningDesk.member(part, "ms");
      parts.merge(RunningDesk.member(part, "key").toString(), millis, Double::sum);
      sum += millis;
    }
    String said = trace + ": " + parts + ", in truth " + truth;
    truth.forEach(
        (key, millis) -> {
          double shown = parts.getOrDefault(key, 0.0);
          worstMillis = Math.max(worstMillis, Math.abs(shown - millis));
          assertThat(shown).as(said).isCloseTo(millis, within(ALLOWED_MILLIS));
        });
    assertThat(sum)
        .as(said)
        .isCloseTo((Double) RunningDesk.member(anatomy, "ttftMs"), within(SUM_MILLIS));
    assertThat(parts).as(said).containsKeys("schedule");
  }
}
