package io.inferspan.samples.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.inferspan.catalog.EngineSpans;
import io.inferspan.catalog.GatewaySpans;
import io.inferspan.catalog.KernelSpans;
import io.inferspan.catalog.PdSpans;
import io.inferspan.catalog.SpanCatalog;
import io.inferspan.semconv.KernelAttributes;
import io.inferspan.semconv.PdAttributes;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.SpanTree;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * The stack that {@code ./demo} starts, and its six requests: the desk shows everything that {@code
 * samples/docs/why-slow.md} describes.
 *
 * <p>The requests are sent once, in order, because each changes the content of the caches.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class StackIT {

  static final Path ROOT = Path.of("../..");

  /**
   * More than in the demo, because these processes start without AOT caches: after two rounds, an
   * engine still loads classes in its next request, which shows as time on the wire.
   */
  private static final int WARM_UP_ROUNDS = 6;

  private static final Duration QUIET = Duration.ofMillis(300);
  private static final Duration SOON = Duration.ofSeconds(10);

  private final List<String> unexpectedExits = new CopyOnWriteArrayList<>();
  private final Map<Scenario, ScenarioResult> played = new EnumMap<>(Scenario.class);
  private Stack stack;
  private DeskClient desk;
  private boolean hasCompiler;

  @BeforeAll
  void play() throws Exception {
    hasCompiler = buildsCuda();
    Programs programs = new Programs(ROOT, false);
    assumeTrue(programs.missing().isEmpty(), "not built yet: " + programs.missing());
    stack = Stack.start(programs, child -> unexpectedExits.add(child.exitMessage()));
    stack.awaitServing(ready -> {});
    stack.awaitAgent(ready -> {});
    desk = new DeskClient(stack.page());
    GatewayClient client = new GatewayClient(stack.gatewayUrl());
    // Fails if the first requests fail: a process that reports that it serves must serve them.
    client.warmUp(WARM_UP_ROUNDS);
    for (Scenario scenario : Scenario.values()) {
      played.put(scenario, play(scenario, client));
    }
  }

  /** Builds the CUDA stand-in, as the script {@code ./demo} does; returns whether it was built. */
  private static boolean buildsCuda() throws IOException, InterruptedException {
    return new ProcessBuilder(
                ROOT.resolve("samples/demo/build-cuda").toString(),
                Path.of("target/cuda").toAbsolutePath().toString())
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start()
            .waitFor()
        == 0;
  }

  private ScenarioResult play(Scenario scenario, GatewayClient client)
      throws IOException, InterruptedException {
    String id = id(scenario);
    int status = client.send(scenario.request(id));
    String requiredService = stack.whyNoKernelSpans().isEmpty() ? Stack.AGENT_SERVICE : "";
    DeskClient.Trace trace =
        Objects.requireNonNull(
            desk.await(id, each -> each.engineSpansHaveSiblings(requiredService), QUIET, SOON),
            "the trace of " + id);
    return new ScenarioResult(status, trace, desk.view(trace.id()));
  }

  private static String id(Scenario scenario) {
    return "test-" + scenario.name().toLowerCase(Locale.ROOT);
  }

  @AfterAll
  void stop() {
    if (stack != null) {
      stack.close();
      assertThat(stack.children()).noneMatch(Child::isAlive);
      assertThat(unexpectedExits).isEmpty();
    }
  }

  private ScenarioResult of(Scenario scenario) {
    return Objects.requireNonNull(played.get(scenario), scenario.name());
  }

  @Test
  void everyRequest_isOneTree_withAnExplanation() {
    played.forEach(
        (scenario, each) -> {
          assertThat(SpanTree.of(each.trace().spans()).roots())
              .as(scenario.name())
              .singleElement()
              .satisfies(
                  root ->
                      assertThat(root.span().name())
                          .isEqualTo(ScenarioResult.name(GatewaySpans.REQUEST)));
          assertThat(each.trace().why()).as(scenario.name()).isNotEmpty();
        });
  }

  @Test
  void twoRequestsOfOneEngine_shareItsSteps() throws Exception {
    assumeTrue(stack.whyNoKernelSpans().isEmpty(), stack.whyNoKernelSpans());
    assumeTrue(stack.hasBatchEngine(), "needs " + BatchEngine.INSTALL);
    new GatewayClient(stack.batchGatewayUrl())
        .sendAtOnce(
            List.of(BatchEngine.request("test-light", 60), BatchEngine.request("test-heavy", 600)));

    assertThat(desk.await("test-light", DeskClient.Trace::hasBatchSpans, QUIET, SOON)).isNotNull();
    assertThat(desk.explain("test-light"))
        .anyMatch(line -> line.matches(" +[1-9]\\d* .* test-heavy .*"));
  }

  @Test
  void engineSpans_haveKernelAndCudaSiblings_orOneLineSaysWhyNot() {
    if (!mayObserveTheKernel()) {
      assertThat(stack.whyNoKernelSpans()).isNotBlank().doesNotContain("\n");
      return;
    }
    assertThat(stack.whyNoKernelSpans()).isEmpty();
    assertThat(of(Scenario.COLD_PREFIX).trace().spans())
        .anyMatch(span -> span.name().startsWith("syscall."));
    if (!hasCompiler) {
      assertThat(stack.whyNoCudaSpans()).contains("no C compiler");
      return;
    }
    assertThat(stack.whyNoCudaSpans()).isEmpty();
    played.forEach(
        (scenario, each) ->
            assertThat(each.spans(EngineSpans.LLM_REQUEST))
                .as(scenario.name())
                .allSatisfy(
                    engine ->
                        assertThat(each.siblings(engine))
                            .anyMatch(span -> span.name().startsWith("cuda."))));
  }

  @Test
  void engineStart_isATraceOnTheDesk_withPhasesAndTimeline() throws Exception {
    assumeTrue(mayObserveTheKernel(), "needs root");
    String root = ScenarioResult.name(KernelSpans.COLD_START);

    String id = stack.coldStart();

    DeskClient.Trace trace = Objects.requireNonNull(desk.await(id, any -> true, QUIET, SOON), id);
    assertThat(SpanTree.of(trace.spans()).roots())
        .singleElement()
        .satisfies(only -> assertThat(only.span().name()).isEqualTo(root));
    assertThat(trace.spans()).extracting(SpanRecord::name).contains(root + ".imports");
    if (hasCompiler) {
      assertThat(trace.spans())
          .extracting(SpanRecord::name)
          .contains(root + ".device_init", root + ".module_load", root + ".allocation");
    }
    assertThat(desk.view(id).getBoolean("timeline", false)).isTrue();
  }

  private static boolean mayObserveTheKernel() {
    return "root".equals(System.getProperty("user.name"))
        && Files.exists(Path.of("/sys/kernel/btf/vmlinux"));
  }

  @Test
  void uncachedPrefix_isPrefilledOnAnotherPod_whichTakesMostOfTheTime() {
    ScenarioResult cold = of(Scenario.COLD_PREFIX);

    assertThat(cold.httpStatus()).isEqualTo(200);
    assertThat(cold.services(EngineSpans.LLM_REQUEST))
        .satisfiesExactlyInAnyOrder(
            name -> assertThat(name).startsWith("vllm-prefill-"),
            name -> assertThat(name).startsWith("vllm-decode-"));
    assertDecided(cold, "prefill_decode", "non_cached_bytes_reach_threshold");
    assertThat(cold.summary().getDouble("kvHitRatio")).isZero();
    Map<String, Double> parts = cold.anatomy();
    parts.remove("other");
    assertThat(parts).allSatisfy((key, ms) -> assertThat(ms).isLessThanOrEqualTo(prefill(cold)));
    assertThat(cold.anatomy().values().stream().mapToDouble(Double::doubleValue).sum())
        .isCloseTo(cold.ttftMillis(), within(0.05));
    assertThat(cold.span(PdSpans.DECODE).startEpochNanos())
        .isGreaterThanOrEqualTo(cold.span(PdSpans.PREFILL).endEpochNanos());
  }

  @Test
  void cachedPrefix_isPrefilledOnItsPod_andItsFirstTokenComesEarlier() {
    ScenarioResult cold = of(Scenario.COLD_PREFIX);
    ScenarioResult warm = of(Scenario.WARM_PREFIX);

    assertThat(warm.httpStatus()).isEqualTo(200);
    assertDecided(warm, "decode_only", "mostly_cached");
    assertThat(warm.summary().getDouble("kvHitRatio")).isGreaterThan(0.9);
    assertThat(warm.ttftMillis()).isLessThan(cold.ttftMillis());
    assertThat(prefill(warm)).isLessThan(prefill(cold));
  }

  @Test
  void shortPrompt_isNotWorthATransfer() {
    assertDecided(of(Scenario.SHORT_PROMPT), "decode_only", "input_below_threshold");
  }

  @Test
  void slowPrefill_isInTheEngineOfOnePod_whichWaitsForItsDevice() {
    ScenarioResult cold = of(Scenario.COLD_PREFIX);
    ScenarioResult slow = of(Scenario.SLOW_PREFILL);

    assertDecided(slow, "prefill_decode", "non_cached_bytes_reach_threshold");
    assertThat(slow.summary().getDouble("kvHitRatio")).isZero();
    assertThat(promptTokens(slow)).isEqualTo(promptTokens(cold));
    assertThat(prefill(slow)).isGreaterThan(3 * prefill(cold));
    SpanRecord stage = slow.span(PdSpans.PREFILL);
    SpanRecord engine =
        slow.spans(EngineSpans.LLM_REQUEST).stream()
            .filter(span -> span.parentSpanId().equals(stage.spanId()))
            .findFirst()
            .orElseThrow();
    assertThat(engine.serviceName()).startsWith("vllm-prefill-");
    assertThat(engine.duration()).isGreaterThan(stage.duration().multipliedBy(8).dividedBy(10));
    assertThat(slow.trace().why())
        .startsWith("first token after ")
        .contains(" prefill on " + engine.serviceName());
    if (stack.whyNoKernelSpans().isEmpty() && hasCompiler) {
      assertThat(syncNanos(slow, engine)).isGreaterThan(0.8 * engine.duration().toNanos());
    }
  }

  /** Returns the total time of the stream synchronisations below the same parent. */
  private static double syncNanos(ScenarioResult scenario, SpanRecord engine) {
    return scenario.siblings(engine).stream()
        .filter(span -> SpanCatalog.unfolded(span.name()).equals("cuda.stream_sync"))
        .mapToDouble(
            span ->
                span.attribute(KernelAttributes.DURATION_SUM_NS.key().getKey())
                        instanceof Number sum
                    ? sum.doubleValue()
                    : span.duration().toNanos())
        .sum();
  }

  @Test
  void failingPrefill_isListedUnderErrors_withItsOwnStatus_andNothingIsDecoded()
      throws IOException {
    ScenarioResult failing = of(Scenario.FAILING_PREFILL);

    assertThat(failing.httpStatus()).isEqualTo(500);
    assertThat(desk.search("status=error"))
        .extracting(listed -> listed.getString("requestId"))
        .contains(id(Scenario.FAILING_PREFILL))
        .doesNotContain(
            id(Scenario.COLD_PREFIX), id(Scenario.WARM_PREFIX), id(Scenario.SLOW_PREFILL));
    assertThat(failing.summary().containsKey("ttftMs")).isFalse();
    assertThat(failing.view().containsKey("anatomy")).isFalse();
    SpanRecord prefill = failing.span(PdSpans.PREFILL);
    assertThat(prefill.isError()).isTrue();
    assertThat(prefill.attribute(PdAttributes.PREFILL_STATUS_CODE.key().getKey()))
        .hasToString("500");
    assertThat(failing.span(PdSpans.REQUEST).isError()).isTrue();
    assertThat(failing.spans(PdSpans.DECODE)).isEmpty();
    assertThat(failing.trace().why())
        .startsWith(
            "failed in " + ScenarioResult.name(PdSpans.PREFILL) + " on " + prefill.serviceName());
  }

  @Test
  void disconnectedClient_endsAllStages() {
    ScenarioResult cancelled = of(Scenario.HANG_UP);

    assertThat(cancelled.httpStatus()).isEqualTo(200);
    assertThat(cancelled.trace().status()).isEqualTo("error");
    assertThat(cancelled.trace().why()).contains("client_disconnected");
    assertThat(cancelled.span(GatewaySpans.REQUEST).isError()).isTrue();
    assertThat(cancelled.span(PdSpans.REQUEST).isError()).isTrue();
    // An engine records spans of finished requests only; this request was cancelled.
    assertThat(cancelled.spans(EngineSpans.LLM_REQUEST)).isEmpty();
  }

  private static void assertDecided(ScenarioResult scenario, String decision, String reason) {
    JsonObject decided = scenario.decision();
    assertThat(decided.getString("decision")).isEqualTo(decision);
    assertThat(decided.getString("reason")).isEqualTo(reason);
  }

  private static double prefill(ScenarioResult scenario) {
    return Objects.requireNonNull(scenario.anatomy().get("prefill"), "no prefill is shown");
  }

  private static List<String> promptTokens(ScenarioResult scenario) {
    return scenario.spans(EngineSpans.LLM_REQUEST).stream()
        .map(span -> String.valueOf(span.attribute("gen_ai.usage.prompt_tokens")))
        .toList();
  }
}
