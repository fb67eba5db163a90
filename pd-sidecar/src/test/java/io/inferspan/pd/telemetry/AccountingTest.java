package io.inferspan.pd.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.catalog.SpanNaming;
import io.inferspan.pd.rig.FreePort;
import io.inferspan.pd.rig.SidecarRig;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import io.inferspan.testing.engine.EngineScript;
import io.inferspan.testing.engine.FakeEngine;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests that every request has one span and is counted once, whatever its outcome. */
final class AccountingTest {
  private static final int REQUESTS = 2_000;
  private static final int AT_A_TIME = 48;
  private static final int FAULTS = 60;
  private static final Pattern EXEMPLAR = Pattern.compile("trace_id=\"([0-9a-f]{32})\"");

  @RegisterExtension
  static final TracingExtension TRACING =
      TracingExtension.builder().sampler(Sampler.parentBased(Sampler.alwaysOn())).build();

  private final FakeEngine prefiller = FakeEngine.start();
  private final FakeEngine decoder = FakeEngine.start();
  private final Scrape scrape = new Scrape(FreePort.next());
  private final int unusedPort = FreePort.next();
  private final SidecarRig sidecar =
      SidecarRig.before(decoder.port())
          .with("--enable-ssrf-protection=true", "--allow-target=127.0.0.1")
          .with("--metrics-port=" + scrape.port(), "--event-loops=2")
          .tracedBy(TRACING.openTelemetry(), SpanNaming.PROPOSAL)
          .start();

  @AfterEach
  void stop() {
    sidecar.close();
    prefiller.close();
    decoder.close();
    scrape.close();
  }

  /** The kinds of requests, in equal numbers. */
  private enum Kind {
    PD,
    PD_AGAIN,
    DECODE_ONLY,
    PASSTHROUGH,
    PREFILLER_DEAD,
    DENIED,
    NOT_JSON,
    LEAVES
  }

  private static Kind kind(int number) {
    return Kind.values()[number % Kind.values().length];
  }

  private static String traceId(int number) {
    return "%032x".formatted(number + 1);
  }

  /** Returns whether a request is sampled; every kind has sampled and unsampled requests. */
  private static boolean sampled(int number) {
    return number / Kind.values().length % 4 != 0;
  }

  @Test
  void everyRequest_isTracedOnceAndCountedOnce() throws Exception {
    decoder.script(EngineScript.builder().tokens(8).betweenTokens(Duration.ofMillis(1)).build());
    for (int i = 0; i < FAULTS; i++) {
      prefiller.enqueue(EngineScript.builder().failWith(503, "busy").build());
      decoder.enqueue(
          i % 2 == 0
              ? EngineScript.builder().failWith(500, "out of memory").build()
              : EngineScript.builder().cutBeforeHeaders().build());
    }

    sendAll();

    Map<String, Double> counted = scrape.awaitZero("inferspan_pd_requests_in_flight");
    assertThat(sum(counted, "llm_d_disagg_sidecar_requests_total")).isEqualTo(REQUESTS);
    assertThat(sum(counted, "inferspan_pd_request_duration_seconds_count")).isEqualTo(REQUESTS);
    assertThat(counted).containsEntry("inferspan_pd_held_bodies_bytes", 0.0);
    int each = REQUESTS / Kind.values().length;
    assertThat(counted)
        .containsEntry("inferspan_pd_allow_list_denials_total", (double) each)
        .containsEntry(error("request"), 2.0 * each)
        .containsEntry(error("prefill"), (double) each + FAULTS)
        .containsEntry(error("decode"), (double) FAULTS);
    assertThat(requestSpansOfEachTrace())
        .hasSize((int) IntStream.range(0, REQUESTS).filter(AccountingTest::sampled).count())
        .allSatisfy((trace, count) -> assertThat(count).as(trace).isOne());
    assertThat(exemplars()).isNotEmpty().isSubsetOf(sampledTraces());
  }

  private static String error(String stage) {
    return "llm_d_disagg_sidecar_request_errors_total{stage=\"" + stage + "\"}";
  }

  private static double sum(Map<String, Double> counted, String name) {
    return counted.entrySet().stream()
        .filter(sample -> sample.getKey().startsWith(name))
        .mapToDouble(Map.Entry::getValue)
        .sum();
  }

  private static Map<String, Long> requestSpansOfEachTrace() {
    return TRACING.spans().stream()
        .filter(span -> span.name().equals("llm_d.pd_proxy.request"))
        .collect(Collectors.groupingBy(SpanRecord::traceId, Collectors.counting()));
  }

  private static Set<String> sampledTraces() {
    return IntStream.range(0, REQUESTS)
        .filter(AccountingTest::sampled)
        .mapToObj(AccountingTest::traceId)
        .collect(Collectors.toSet());
  }

  private Set<String> exemplars() {
    String text = scrape.text("application/openmetrics-text;version=1.0.0");
    Set<String> traces = new HashSet<>();
    EXEMPLAR.matcher(text).results().map(match -> group(match)).forEach(traces::add);
    return traces;
  }

  private static String group(MatchResult match) {
    return match.group(1);
  }

  private void sendAll() throws Exception {
    Semaphore room = new Semaphore(AT_A_TIME);
    try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
      var sent =
          IntStream.range(0, REQUESTS)
              .mapToObj(
                  number ->
                      clients.submit(
                          () -> {
                            room.acquire();
                            try {
                              send(number);
                            } finally {
                              room.release();
                            }
                            return number;
                          }))
              .toList();
      for (var one : sent) {
        one.get();
      }
    }
  }

  private void send(int number) {
    String parent = "00-" + traceId(number) + "-00000000000000ff-0" + (sampled(number) ? 1 : 0);
    String target =
        switch (kind(number)) {
          case PREFILLER_DEAD -> "127.0.0.1:" + unusedPort;
          case DENIED -> "10.1.2.3:8000";
          case DECODE_ONLY, PASSTHROUGH, LEAVES -> "";
          default -> prefiller.authority();
        };
    switch (kind(number)) {
      case PASSTHROUGH -> sidecar.get("/v1/models", "traceparent", parent);
      case LEAVES -> leave(parent);
      case NOT_JSON ->
          sidecar.post(TracedPd.CHAT, "[]", "traceparent", parent, TracedPd.PREFILLER, target);
      default ->
          sidecar.post(
              TracedPd.CHAT,
              number % 3 == 0 ? TracedPd.WHOLE : TracedPd.STREAMED,
              "traceparent",
              parent,
              TracedPd.PREFILLER,
              target);
    }
  }

  private void leave(String parent) {
    LeavingClient client =
        LeavingClient.post(
            sidecar.port(),
            TracedPd.CHAT,
            TracedPd.STREAMED,
            "traceparent: " + parent,
            "connection: close");
    client.readUntil("tok1");
    client.reset();
  }
}
