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

  private final List<String> died = new CopyOnWriteArrayList<>();
  private final Map<Scene, PlayedScene> played = new EnumMap<>(Scene.class);
  private Stack stack;
  private DeskClient desk;
  private boolean hasCompiler;

  @BeforeAll
  void play() throws Exception {
    hasCompiler = buildsCuda();
    Programs programs = new Programs(ROOT, false);
    assumeTrue(programs.missing().isEmpty(), "not built yet: " + programs.missing());
    stack = Stack.start(programs, child -> died.add(child.exitMessage()));
    stack.awaitServing(ready -> {});
    stack.awaitWatching(ready -> {});
    desk = new DeskClient(stack.page());
    GatewayClient client = new GatewayClient(stack.gatewayUrl());
    // Fails if the first requests fail: a process that reports that it serves must serve them.
    client.warmUp(WARM_UP_ROUNDS);
    for (Scene scene : Scene.values()) {
      played.put(scene, play(scene, client));
    }
  }

  /** Does what the script does before it starts the demo. */
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

  private PlayedScene play(Scene scene, GatewayClient client)
      throws IOException, InterruptedException {
    String id = id(scene);
    int answered = client.ask(scene.question(id));
    String last = stack.withoutKernel().isEmpty() ? Stack.AGENT_SERVICE : "";
    DeskClient.Trace trace =
        Objects.requireNonNull(
            desk.await(id, each -> each.hasSiblingsOfEngines(last), QUIET, SOON),
            "the trace of " + id);
    return new PlayedScene(answered, trace, desk.view(trace.id()));
  }

  private static String id(Scene scene) {
    return "test-" + scene.name().toLowerCase(Locale.ROOT);
  }

  @AfterAll
  void stop() {
    if (stack != null) {
      stack.close();
      assertThat(stack.children()).noneMatch(Child::isAlive);
      assertThat(died).isEmpty();
    }
  }

  private PlayedScene of(Scene scene) {
    return Objects.requireNonNull(played.get(scene), scene.name());
  }

  @Test
  void everyRequest_isOneTree_withASentence() {
    played.forEach(
        (scene, each) -> {
          assertThat(SpanTree.of(each.trace().spans()).roots())
              .as(scene.name())
              .singleElement()
              .satisfies(
                  root ->
                      assertThat(root.span().name())
                          .isEqualTo(PlayedScene.name(GatewaySpans.REQUEST)));
          assertThat(each.trace().why()).as(scene.name()).isNotEmpty();
        });
  }

  @Test
  void twoRequestsOfOneEngine_shareItsSteps() throws Exception {
    assumeTrue(stack.withoutKernel().isEmpty(), stack.withoutKernel());
    assumeTrue(stack.hasBatchEngine(), "needs " + BatchEngine.INSTALL);
    new GatewayClient(stack.batchGatewayUrl())
        .askAtOnce(
            List.of(
                BatchEngine.question("test-light", 60), BatchEngine.question("test-heavy", 600)));

    assertThat(desk.await("test-light", DeskClient.Trace::hasPartInSteps, QUIET, SOON)).isNotNull();
    assertThat(desk.explain("test-light"))
        .anyMatch(line -> line.matches(" +[1-9]\\d* .* test-heavy .*"));
  }

  @Test
  void asRoot_engineSpansHaveKernelAndCudaSiblings_otherwiseOneLineSaysWhatIsMissing() {
    if (!mayWatchTheKernel()) {
      assertThat(stack.withoutKernel()).isNotBlank().doesNotContain("\n");
      return;
    }
    assertThat(stack.withoutKernel()).isEmpty();
    assertThat(of(Scene.COLD_PREFIX).trace().spans())
        .anyMatch(span -> span.name().startsWith("syscall."));
    if (!hasCompiler) {
      assertThat(stack.withoutCuda()).contains("no C compiler");
      return;
    }
    assertThat(stack.withoutCuda()).isEmpty();
    played.forEach(
        (scene, each) ->
            assertThat(each.spans(EngineSpans.LLM_REQUEST))
                .as(scene.name())
                .allSatisfy(
                    engine ->
                        assertThat(each.siblings(engine))
                            .anyMatch(span -> span.name().startsWith("cuda."))));
  }

  @Test
  void startOfAnEngine_isATraceOnTheDesk_withItsPhasesAndItsTimeline() throws Exception {
    assumeTrue(mayWatchTheKernel(), "needs root");
    String root = PlayedScene.name(KernelSpans.COLD_START);

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

  private static boolean mayWatchTheKernel() {
    return "root".equals(System.getProperty("user.name"))
        && Files.exists(Path.of("/sys/kernel/btf/vmlinux"));
  }

  @Test
  void uncachedPrefix_isPrefilledOnAnotherPod_whichTakesMostOfTheTime() {
    PlayedScene cold = of(Scene.COLD_PREFIX);

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
    PlayedScene cold = of(Scene.COLD_PREFIX);
    PlayedScene warm = of(Scene.WARM_PREFIX);

    assertThat(warm.httpStatus()).isEqualTo(200);
    assertDecided(warm, "decode_only", "mostly_cached");
    assertThat(warm.summary().getDouble("kvHitRatio")).isGreaterThan(0.9);
    assertThat(warm.ttftMillis()).isLessThan(cold.ttftMillis());
    assertThat(prefill(warm)).isLessThan(prefill(cold));
  }

  @Test
  void shortPrompt_isNotWorthATransfer() {
    assertDecided(of(Scene.SHORT_PROMPT), "decode_only", "input_below_threshold");
  }

  @Test
  void slowPrefill_isInTheEngineOfOnePod_whichWaitsForItsDevice() {
    PlayedScene cold = of(Scene.COLD_PREFIX);
    PlayedScene slow = of(Scene.SLOW_PREFILL);

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
    if (stack.withoutKernel().isEmpty() && hasCompiler) {
      assertThat(waitedForTheDeviceNanos(slow, engine))
          .isGreaterThan(0.8 * engine.duration().toNanos());
    }
  }

  /** Returns the time in the events of a folded span, or the duration of any other span. */
  private static double waitedForTheDeviceNanos(PlayedScene scene, SpanRecord engine) {
    return scene.siblings(engine).stream()
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
    PlayedScene failing = of(Scene.FAILING_PREFILL);

    assertThat(failing.httpStatus()).isEqualTo(500);
    assertThat(desk.search("status=error"))
        .extracting(listed -> listed.getString("requestId"))
        .contains(id(Scene.FAILING_PREFILL))
        .doesNotContain(id(Scene.COLD_PREFIX), id(Scene.WARM_PREFIX), id(Scene.SLOW_PREFILL));
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
            "failed in " + PlayedScene.name(PdSpans.PREFILL) + " on " + prefill.serviceName());
  }

  @Test
  void clientThatHangsUp_endsAllStages() {
    PlayedScene left = of(Scene.HANG_UP);

    assertThat(left.httpStatus()).isEqualTo(200);
    assertThat(left.trace().status()).isEqualTo("error");
    assertThat(left.trace().why()).contains("client_disconnected");
    assertThat(left.span(GatewaySpans.REQUEST).isError()).isTrue();
    assertThat(left.span(PdSpans.REQUEST).isError()).isTrue();
    // An engine reports finished requests; this one was asked to stop.
    assertThat(left.spans(EngineSpans.LLM_REQUEST)).isEmpty();
  }

  private static void assertDecided(PlayedScene scene, String decision, String reason) {
    JsonObject decided = scene.decision();
    assertThat(decided.getString("decision")).isEqualTo(decision);
    assertThat(decided.getString("reason")).isEqualTo(reason);
  }

  private static double prefill(PlayedScene scene) {
    return Objects.requireNonNull(scene.anatomy().get("prefill"), "no prefill is shown");
  }

  private static List<String> promptTokens(PlayedScene scene) {
    return scene.spans(EngineSpans.LLM_REQUEST).stream()
        .map(span -> String.valueOf(span.attribute("gen_ai.usage.prompt_tokens")))
        .toList();
  }
}
