package io.inferspan.ebpf;

import static io.inferspan.ebpf.EngineRun.nanos;
import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.catalog.SpanCatalog;
import io.inferspan.ebpf.EngineRun.Load;
import io.inferspan.ebpf.EngineRun.Ran;
import io.inferspan.testing.SpanRecord;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * An engine with vLLM's processes that runs many requests in one step. The spans of each step and
 * request are compared with the engine's own data.
 *
 * <p>{@code -Dengine.requests=10000} sets the number of requests in the tests with random
 * schedules, and {@code -Dengine.seed} selects other schedules.
 */
class EngineIT {

  private static final String STEP = "llm_d.engine.step";
  private static final String RANK = "llm_d.engine.rank";

  /** Releases with different layouts. */
  private static final List<String> RELEASES =
      List.of("0.8.5", "0.10.2", "0.11.2", "0.14.0", "0.16.0", "0.19.1", "0.23.0", "0.24.0");

  private static final int FIRST_ASYNCHRONOUS = 2;

  /** A request's part in the steps of one phase. */
  private record Part(String request, String phase) {}

  private long steps;
  private long launches;
  private long attributed;
  private int mostMembers;
  private double worstError;
  private LaunchDetail detail = LaunchDetail.FULL;

  @Test
  void profilerReadsCupti_sharesAddUpToTheTimeOfTheKernels() throws Exception {
    EngineRun run = play(new Load(64, 16, 1, 0, 7), "--release=0.16.0", "--sync", EngineRun.CUPTI);

    assertCorrect(run);
    assertThat(run.truth).anyMatch(ran -> ran.tokens().size() > 4);
    assertThat(phases(run, "r5", "llm_d.engine.decode").get(0).attributes())
        .containsEntry("llm_d.engine.steps", EngineRun.LONG_ANSWER - 1L);
    List<SpanRecord> onDevice = new ArrayList<>(run.named(STEP));
    onDevice.removeIf(step -> !"cupti".equals(step.attribute("busy.source")));
    // Times of two clocks are compared, so a step may seem to lack a kernel.
    assertThat(onDevice.size()).isGreaterThan(run.truth.size() / 2);
    onDevice.forEach(step -> assertThat(nanos(step, "busy.ms")).isEqualTo(deviceNanos(run, step)));
  }

  @Test
  void twoRanks_someRequestsUnsampled_noMemberIsWrong() throws Exception {
    EngineRun run =
        play(
            new Load(64, 16, 3, 0, 7),
            "--release=0.24.0",
            "--tp=2",
            "--sync",
            "--set=preempt=0.05");

    assertCorrect(run);
    assertRanks(run, true);
  }

  private static void assertRanks(EngineRun run, boolean titled) {
    assertThat(run.truth.stream().map(Ran::pid).distinct()).hasSize(2);
    Map<String, String> ranks = new HashMap<>();
    run.truth.forEach(ran -> ranks.put(key(ran), titled ? "TP" + ran.rank() : ""));
    assertThat(run.named(STEP))
        .allMatch(step -> Objects.toString(step.attribute(RANK), "").equals(ranks.get(key(step))));
  }

  @Test
  void launchesCountedAtEntry_marksAreTheWindowAndNoLaunchIsMissing() throws Exception {
    detail = LaunchDetail.COUNTED;
    EngineRun run = play(new Load(64, 16, 1, 0, 7), "--release=0.16.0");

    assertCorrect(run);
    assertWindows(run, "launches:counted");
  }

  @Test
  void noProbesOnLaunches_marksAndWaitsAreTheWindow() throws Exception {
    detail = LaunchDetail.DETACHED;
    EngineRun run = play(new Load(64, 16, 1, 0, 7), "--release=0.24.0", "--tp=2", "--sync");

    assertCorrect(run);
    assertWindows(run, "launches:detached");
  }

  private static long deviceNanos(EngineRun run, SpanRecord step) {
    return run.truth.stream()
        .filter(ran -> key(ran).equals(key(step)))
        .mapToLong(ran -> sum(ran.costs()) + 1)
        .sum();
  }

  private static void assertWindows(EngineRun run, String level) {
    assertThat(busy(run)).isPositive();
    assertThat(run.named(STEP))
        .allSatisfy(
            step ->
                assertThat(step.attributes())
                    .containsEntry("busy.source", "marks")
                    .containsEntry("inferspan.ebpf.level", level));
  }

  @Test
  void stepsOf256Requests_noMemberIsWrong() throws Exception {
    EngineSchedule crowd = EngineSchedule.crowd("0.24.0");
    assertCorrect(play(crowd.load(), crowd.options().toArray(String[]::new)));

    assertThat(mostMembers).isEqualTo(256);
  }

  @Test
  void randomSchedules_noMemberIsWrong() throws Exception {
    int wanted = Integer.getInteger("engine.requests", 120);
    Random random = new Random(Long.getLong("engine.seed", 11));
    int served = 0;
    while (served < wanted) {
      EngineSchedule schedule =
          EngineSchedule.random(random, RELEASES, FIRST_ASYNCHRONOUS, wanted, served);
      assertCorrect(play(schedule.load(), schedule.options().toArray(String[]::new)));
      served += schedule.load().requests();
    }
    report("engine", served);
  }

  /** The second engine loads the plugin as vLLM does. */
  @Test
  void secondEngine_noMemberIsWrong() throws Exception {
    int wanted = Integer.getInteger("engine.requests", 96);
    for (EngineSchedule schedule : EngineSchedule.plain(wanted, Long.getLong("engine.seed", 11))) {
      EngineRun run = play(schedule.load(), schedule.options().toArray(String[]::new));
      assertCorrect(run);
      if (schedule.ranks() > 1) {
        assertRanks(run, schedule.hasTitles());
      }
    }
    report("second engine", wanted);
  }

  private void report(String engine, int served) {
    System.out.printf(
        "%s: %d requests, %d steps of up to %d members, 0 wrong, %d of %d launches attributed,"
            + " shares off by at most %.2f of their bound%n",
        engine, served, steps, mostMembers, attributed, launches, worstError);
  }

  @Test
  void fullRing_incompleteSpansHaveACoverageBelowOne() throws Exception {
    assertCoverage(EngineRun.stalled(new Load(192, 192, 1, 0, 7), "--release=0.16.0"));
  }

  @Test
  void secondEngine_fullRing_incompleteSpansHaveACoverageBelowOne() throws Exception {
    Load load = new Load(192, 192, 1, 0, 7);
    assertCoverage(EngineRun.stalled(load, EngineRun.PLAIN, "--release=0.11.2"));
  }

  /** Checks that a span has a coverage of 1 only if nothing is missing from it. */
  private void assertCoverage(EngineRun run) {
    Map<String, Ran> truth =
        run.truth.stream().collect(Collectors.toMap(EngineIT::key, ran -> ran));

    assertThat(run.lost).isPositive();
    List<SpanRecord> whole = covered(run.named(STEP));
    assertThat(whole).hasSizeLessThan(truth.size());
    for (SpanRecord step : whole) {
      Ran ran = Objects.requireNonNull(truth.get(key(step)));
      assertCounts(ran, step);
      // The record that binds a slot to its request may have been lost much earlier.
      assertThat(sampled(run, ran)).as("%s", ran).containsAllEntriesOf(linked(step, List.of()));
    }
    Set<String> lossy = new HashSet<>(truth.keySet());
    whole.forEach(step -> lossy.remove(key(step)));
    for (String name : run.requests) {
      List<Ran> own = run.truth.stream().filter(ran -> ran.tokens().containsKey(name)).toList();
      boolean missed = own.stream().anyMatch(ran -> lossy.contains(key(ran)));
      for (String phase : List.of("llm_d.engine.prefill", "llm_d.engine.decode")) {
        assertThat(covered(phases(run, name, phase)))
            .as("%s of %s", phase, name)
            .hasSizeLessThanOrEqualTo(missed ? 0 : 1);
      }
    }
    System.out.printf(
        "engine: %d records lost, %d of %d steps whole%n", run.lost, whole.size(), truth.size());
  }

  private EngineRun play(Load load, String... options) throws Exception {
    BridgeConfig config = TestKit.children().launches(detail).build();
    EngineRun run = EngineRun.of(load, config, List.of(options));
    assertThat(run.lost).as("%s %s", load, List.of(options)).isZero();
    assertThat(run.unsent).as("spans that were not exported").isZero();
    return run;
  }

  private void assertCorrect(EngineRun run) {
    assertSteps(run);
    long first = run.truth.get(0).pid();
    Map<String, List<Ran>> ranOf = new HashMap<>();
    for (Ran ran : run.truth) {
      ran.tokens()
          .keySet()
          .forEach(name -> ranOf.computeIfAbsent(name, any -> new ArrayList<>()).add(ran));
    }
    Map<String, List<SpanRecord>> spansOf =
        run.spans.stream().collect(Collectors.groupingBy(SpanRecord::traceId));
    for (String name : run.requests) {
      List<Ran> ran = ranOf.getOrDefault(name, List.of());
      List<SpanRecord> spans = spansOf.getOrDefault(EngineRun.trace(name), List.of());
      List<Ran> own = ran.stream().filter(one -> one.pid() == first).toList();
      assertPhase(run.load, name, own, spans, true);
      assertPhase(run.load, name, own, spans, false);
      assertThat(spans)
          .filteredOn(span -> span.name().equals("llm_d.engine.queue"))
          .as("queue of %s", name)
          .hasSize(run.load.isSampled(name) && !ran.isEmpty() ? 1 : 0);
    }
    assertErrorsAreBounded(run, spansOf);
    if (run.load.oneUnsampledOf() == 1) {
      run.assertSharesAddUp();
    }
  }

  private void assertSteps(EngineRun run) {
    Map<String, SpanRecord> found =
        run.named(STEP).stream().collect(Collectors.toMap(EngineIT::key, span -> span));
    Map<String, List<SpanRecord>> children =
        run.spans.stream().collect(Collectors.groupingBy(SpanRecord::parentSpanId));
    long launched = 0;
    long known = 0;
    for (Ran ran : run.truth) {
      SpanRecord span = Objects.requireNonNull(found.remove(key(ran)), ran::toString);
      List<SpanRecord> below = children.getOrDefault(span.spanId(), List.of());
      assertCounts(ran, span);
      assertThat(linked(span, below)).as("%s", ran).isEqualTo(sampled(run, ran));
      assertThat(span.attributes()).containsEntry("llm_d.engine.step.members.unidentified", 0L);
      launched += ran.launches();
      known += below.stream().mapToLong(EngineIT::launches).sum();
      mostMembers = Math.max(mostMembers, ran.tokens().size());
    }
    assertThat(found).as("steps that did not run").isEmpty();
    List<SpanRecord> incomplete = new ArrayList<>(run.named(STEP));
    incomplete.removeAll(covered(run.named(STEP)));
    assertThat(incomplete).as("incomplete steps").isEmpty();
    if (detail != LaunchDetail.FULL) {
      assertThat(known).as("launches that are spans").isZero();
      return;
    }
    assertThat(known).isEqualTo(launched).isGreaterThan(run.truth.size());
    steps += run.truth.size();
    launches += launched;
    attributed += known;
  }

  private void assertCounts(Ran ran, SpanRecord span) {
    assertThat(span.attributes())
        .as("%s", ran)
        .containsEntry("llm_d.engine.step.members", (long) ran.tokens().size())
        .containsEntry("llm_d.engine.step.members.prefill", (long) ran.prefills().size())
        .containsEntry("llm_d.engine.tokens", sum(ran.tokens()));
    assertThat(span.attribute("llm_d.engine.step.launches"))
        .as("%s", ran)
        .isEqualTo(detail == LaunchDetail.DETACHED ? null : ran.launches());
  }

  /** Returns the prompt tokens of each sampled member by trace id; 0 if it decodes. */
  private static Map<String, Long> sampled(EngineRun run, Ran ran) {
    Map<String, Long> sampled = new HashMap<>();
    ran.tokens()
        .forEach(
            (name, tokens) -> {
              if (run.load.isSampled(name)) {
                sampled.put(EngineRun.trace(name), ran.prefills().contains(name) ? tokens : 0);
              }
            });
    return sampled;
  }

  private static Map<String, Long> linked(SpanRecord span, List<SpanRecord> below) {
    Map<String, Long> linked = new HashMap<>();
    span.links().forEach(link -> linked.put(link.traceId(), prompt(link)));
    below.forEach(more -> more.links().forEach(link -> linked.put(link.traceId(), prompt(link))));
    return linked;
  }

  private static long prompt(SpanRecord.LinkRecord link) {
    return link.attributes().get("llm_d.engine.tokens") instanceof Long tokens ? tokens : 0;
  }

  private static long launches(SpanRecord span) {
    String call = SpanCatalog.unfolded(span.name());
    if (!call.equals("cuda.launch") && !call.equals("cuda.graph_launch")) {
      return 0;
    }
    return span.attribute("inferspan.ebpf.count") instanceof Long count ? count : 1;
  }

  private static void assertPhase(
      Load load, String name, List<Ran> ran, List<SpanRecord> spans, boolean prefill) {
    String phase = prefill ? "llm_d.engine.prefill" : "llm_d.engine.decode";
    List<Ran> own = ran.stream().filter(one -> one.prefills().contains(name) == prefill).toList();
    List<SpanRecord> found = spans.stream().filter(span -> span.name().equals(phase)).toList();
    if (!load.isSampled(name) || own.isEmpty()) {
      assertThat(found).as("%s of %s", phase, name).isEmpty();
      return;
    }
    assertThat(found).as("%s of %s", phase, name).hasSize(1);
    assertThat(found.get(0).parentSpanId()).isEqualTo("00000000000000aa");
    assertThat(found.get(0).attributes())
        .as("%s of %s", phase, name)
        .containsEntry("llm_d.engine.steps", (long) own.size())
        .containsEntry(
            "llm_d.engine.tokens", own.stream().mapToLong(one -> one.tokens().get(name)).sum())
        .containsEntry("attribution.coverage", 1.0)
        .containsEntry("attribution.source", "plugin");
  }

  /** Checks shares: a request's true part of a step's busy time is its part of the device time. */
  private void assertErrorsAreBounded(EngineRun run, Map<String, List<SpanRecord>> spansOf) {
    Map<String, SpanRecord> found =
        run.named(STEP).stream().collect(Collectors.toMap(EngineIT::key, span -> span));
    Map<Part, Double> shares = new HashMap<>();
    for (Ran ran : run.truth) {
      double busy = nanos(Objects.requireNonNull(found.get(key(ran))), "busy.ms");
      double all = sum(ran.costs());
      ran.costs()
          .forEach(
              (name, cost) -> {
                String phase = ran.prefills().contains(name) ? "prefill" : "decode";
                Part part = new Part(name, "llm_d.engine." + phase);
                shares.merge(part, busy * cost / all, Double::sum);
              });
    }
    shares.forEach(
        (part, share) ->
            spansOf.getOrDefault(EngineRun.trace(part.request), List.of()).stream()
                .filter(span -> span.name().equals(part.phase))
                .forEach(span -> assertBounded(span, share)));
  }

  private void assertBounded(SpanRecord span, double share) {
    double error = Math.abs(nanos(span, "llm_d.engine.share_ms") - share);
    double bound = nanos(span, "attribution.error_bound_ms");
    assertThat(error).as("%s", span).isLessThanOrEqualTo(bound + 1_000);
    worstError = bound == 0 ? worstError : Math.max(worstError, error / bound);
  }

  private static List<SpanRecord> covered(List<SpanRecord> spans) {
    return spans.stream()
        .filter(span -> Double.valueOf(1).equals(span.attribute("attribution.coverage")))
        .toList();
  }

  private static List<SpanRecord> phases(EngineRun run, String name, String phase) {
    return run.named(phase).stream()
        .filter(span -> span.traceId().equals(EngineRun.trace(name)))
        .toList();
  }

  private static long busy(EngineRun run) {
    return run.named(STEP).stream().mapToLong(span -> nanos(span, "busy.ms")).sum();
  }

  private static String key(SpanRecord span) {
    return span.attribute("process.pid") + "/" + span.attribute("llm_d.engine.step.number");
  }

  private static String key(Ran ran) {
    return ran.pid() + "/" + ran.step();
  }

  private static long sum(Map<String, Long> numbers) {
    return numbers.values().stream().mapToLong(Long::longValue).sum();
  }
}
