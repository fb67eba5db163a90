package io.inferspan.samples.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.inferspan.catalog.EngineSpans;
import io.inferspan.catalog.EppSpans;
import io.inferspan.catalog.GatewaySpans;
import io.inferspan.catalog.PdSpans;
import io.inferspan.catalog.SpanNaming;
import io.inferspan.catalog.SpanType;
import io.inferspan.samples.demo.DeskClient.Trace;
import io.inferspan.semconv.EppAttributes;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.SpanTree;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The stack that {@code ./demo} starts: what its six requests tell. */
class StackTest {

  static final Path ROOT = Path.of("../..");

  private static final Duration QUIET = Duration.ofMillis(300);
  private static final Duration SOON = Duration.ofSeconds(10);

  private final List<String> died = new CopyOnWriteArrayList<>();
  private Stack stack;
  private DeskClient desk;
  private GatewayClient client;

  @BeforeEach
  void start() throws Exception {
    Programs programs = new Programs(ROOT, false);
    assumeTrue(programs.missing().isEmpty(), "not built yet: " + programs.missing());
    stack = Stack.start(programs, child -> died.add(child.obituary()));
    stack.awaitServing(ready -> {});
    stack.awaitWatching(ready -> {});
    desk = new DeskClient(stack.page());
    client = new GatewayClient(stack.gatewayUrl());
    // Fails where the first requests do: who says that it serves must serve them.
    client.warmUp();
  }

  @AfterEach
  void stop() {
    if (stack != null) {
      stack.close();
      assertThat(stack.children()).noneMatch(Child::isAlive);
    }
  }

  @Test
  void sixRequests_tellWhatTheyAreAbout() throws Exception {
    Trace cold = play(Scene.COLD_PREFIX, 200);
    assertOneTree(cold);
    assertThat(decision(cold)).isEqualTo("prefill_decode");
    assertThat(services(cold, EngineSpans.LLM_REQUEST))
        .satisfiesExactlyInAnyOrder(
            name -> assertThat(name).startsWith("vllm-prefill-"),
            name -> assertThat(name).startsWith("vllm-decode-"));

    Trace warm = play(Scene.WARM_PREFIX, 200);
    assertOneTree(warm);
    assertThat(decision(warm)).isEqualTo("decode_only");
    assertThat((double) attribute(warm, EppAttributes.CACHE_HIT_RATIO.key().getKey()))
        .isGreaterThan(0.9);

    Trace brief = play(Scene.SHORT_PROMPT, 200);
    assertThat(attribute(brief, EppAttributes.DECISION_REASON.key().getKey()))
        .isEqualTo("input_below_threshold");

    Trace slow = play(Scene.SLOW_PREFILL, 200);
    assertThat(prefillNanos(slow)).isGreaterThan(3 * prefillNanos(cold));

    Trace failing = play(Scene.FAILING_PREFILL, 500);
    assertThat(spans(failing, PdSpans.PREFILL)).singleElement().matches(SpanRecord::isError);
    assertThat(spans(failing, PdSpans.DECODE)).isEmpty();
    assertThat(failing.status()).isEqualTo("error");

    Trace left = play(Scene.HANG_UP, 200);
    assertThat(spans(left, PdSpans.REQUEST)).isNotEmpty();
    assertThat(spans(left, EngineSpans.LLM_REQUEST)).isEmpty();
    assertThat(List.of(cold, warm, slow, failing)).noneMatch(trace -> trace.why().isEmpty());
    assertThat(died).isEmpty();
  }

  private Trace play(Scene scene, int status) throws IOException, InterruptedException {
    String id = "test-" + scene.name().toLowerCase(Locale.ROOT);
    int answered = client.ask(scene.question(id));
    Trace trace = Objects.requireNonNull(desk.await(id, "", QUIET, SOON), "the trace of " + id);
    assertThat(answered).as("%s: %s", id, trace.why()).isEqualTo(status);
    return trace;
  }

  private static void assertOneTree(Trace trace) {
    assertThat(SpanTree.of(trace.spans()).roots())
        .singleElement()
        .satisfies(root -> assertThat(root.span().name()).isEqualTo(name(GatewaySpans.REQUEST)));
  }

  private static String name(SpanType type) {
    return type.name(SpanNaming.PROPOSAL);
  }

  private static List<SpanRecord> spans(Trace trace, SpanType type) {
    return trace.spans().stream().filter(span -> span.name().equals(name(type))).toList();
  }

  private static List<String> services(Trace trace, SpanType type) {
    return spans(trace, type).stream().map(SpanRecord::serviceName).toList();
  }

  private static long prefillNanos(Trace trace) {
    return spans(trace, PdSpans.PREFILL).get(0).duration().toNanos();
  }

  private static Object decision(Trace trace) {
    return attribute(trace, EppAttributes.DECISION.key().getKey());
  }

  /** Of the decision on prefill: the one that has a reason. */
  private static Object attribute(Trace trace, String key) {
    String reason = EppAttributes.DECISION_REASON.key().getKey();
    SpanRecord decision =
        spans(trace, EppSpans.PROFILE_HANDLER).stream()
            .filter(span -> span.attribute(reason) != null)
            .findFirst()
            .orElseThrow();
    return Objects.requireNonNull(decision.attribute(key), key);
  }
}
