package io.inferspan.ebpf;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.ebpf.EngineRun.Load;
import io.inferspan.ebpf.EngineRun.Ran;
import io.inferspan.testing.SpanRecord;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** An engine on two ranks, whose steps call NCCL. */
class RanksIT {

  private static final String STEP = "llm_d.engine.step";
  private static final String NCCL = "inferspan.ebpf.nccl.";
  private static final int COLLECTIVES = 3;
  private static final int SWAPPED = 2;

  /** A release of vLLM without ranks in the titles of worker processes. */
  private static final String WITHOUT_TITLES = "--release=0.8.5";

  @Test
  void workersWithoutTitles_haveTheRankOfTheirCommunicator() throws Exception {
    EngineRun run = play(WITHOUT_TITLES);

    Map<Long, Long> rankOf =
        run.truth.stream().collect(Collectors.toMap(Ran::pid, Ran::rank, (one, same) -> one));
    assertThat(rankOf.values()).containsExactlyInAnyOrder(0L, 1L);
    assertThat(run.named(STEP))
        .hasSize(run.truth.size())
        .allSatisfy(
            step -> {
              Long rank = rankOf.get(step.attribute("process.pid"));
              assertThat(step.attribute("llm_d.engine.rank")).isEqualTo(String.valueOf(rank));
            });
    assertThat(working(run))
        .allSatisfy(
            step -> {
              assertThat(step.attribute(NCCL + "ranks")).isEqualTo(2L);
              assertThat(step.attribute(NCCL + "rank"))
                  .isEqualTo(rankOf.get(step.attribute("process.pid")));
            });
  }

  @Test
  void stepsOfTwoRanks_arePairedByTheNumbersOfTheirCollectives() throws Exception {
    EngineRun run = play("--release=0.24.0");

    Object communicator = working(run).get(0).attribute(NCCL + "communicator");
    assertThat(communicator).asString().matches("0x[0-9a-f]{8,16}");
    assertThat(working(run))
        .extracting(step -> step.attribute(NCCL + "communicator"))
        .containsOnly(communicator);
    assertThat(working(run))
        .extracting(step -> step.attribute("llm_d.engine.rank"))
        .containsOnly("TP0", "TP1");
    Map<Object, Object> stepOf = new HashMap<>();
    for (Map.Entry<Object, List<SpanRecord>> rank : byRank(working(run)).entrySet()) {
      // One collective follows the creation of the communicator, and three belong to the warm-up.
      long next = 1 + COLLECTIVES + 1;
      for (SpanRecord step : rank.getValue()) {
        assertThat(step.attribute("llm_d.engine.step.collectives")).isEqualTo((long) COLLECTIVES);
        assertThat(step.attribute(NCCL + "sequence")).isEqualTo(next);
        Object number = Objects.requireNonNull(step.attribute("llm_d.engine.step.number"));
        assertThat(stepOf.computeIfAbsent(next, any -> number)).isEqualTo(number);
        next += COLLECTIVES;
      }
    }
    assertThat(run.counters)
        .containsEntry("order_violations", 0L)
        .containsEntry("paired_collectives", (long) stepOf.size() * COLLECTIVES);
  }

  @Test
  void rankThatSwapsTwoCollectives_isCounted() throws Exception {
    EngineRun run = play("--release=0.24.0", "--set=swap=4");

    assertThat(run.counters)
        .containsEntry("order_violations", (long) SWAPPED)
        .containsEntry(
            "paired_collectives", working(run).size() / 2 * (long) COLLECTIVES - SWAPPED);
  }

  /** The steps with collectives: an engine also has steps that only end requests. */
  private static List<SpanRecord> working(EngineRun run) {
    List<SpanRecord> steps = run.named(STEP).stream().filter(RanksIT::isNumbered).toList();
    assertThat(steps).hasSize((int) run.truth.stream().filter(ran -> ran.launches() > 0).count());
    return steps;
  }

  private static Map<Object, List<SpanRecord>> byRank(List<SpanRecord> unsorted) {
    List<SpanRecord> steps = new ArrayList<>(unsorted);
    steps.sort(Comparator.comparingLong(step -> (Long) step.attribute("llm_d.engine.step.number")));
    return steps.stream().collect(Collectors.groupingBy(step -> step.attribute(NCCL + "rank")));
  }

  /** An agent is asleep if it has run for a minute when the engine starts. */
  @Test
  void bridgeIsAsleep_noLaterCollectiveIsMissed() throws Exception {
    BridgeConfig sleepy = TestKit.children().sleepAfter(Duration.ofMillis(1)).build();
    EngineRun run = play(sleepy, WITHOUT_TITLES);

    Map<Object, List<SpanRecord>> ranks =
        byRank(run.named(STEP).stream().filter(RanksIT::isNumbered).toList());
    assertThat(ranks).hasSize(2);
    for (List<SpanRecord> steps : ranks.values()) {
      // The step that wakes the bridge may lack calls.
      long last =
          1 + COLLECTIVES * run.truth.stream().filter(ran -> ran.launches() > 0).count() / 2;
      SpanRecord step = steps.get(steps.size() - 1);
      assertThat(step.attribute(NCCL + "sequence")).isEqualTo(last - COLLECTIVES + 1);
      assertThat(step.attribute("llm_d.engine.step.collectives")).isEqualTo((long) COLLECTIVES);
    }
    assertThat(run.counters).containsEntry("order_violations", 0L);
  }

  private static boolean isNumbered(SpanRecord step) {
    return step.attribute(NCCL + "sequence") != null;
  }

  private static EngineRun play(String... options) throws Exception {
    return play(TestKit.children().build(), options);
  }

  private static EngineRun play(BridgeConfig config, String... options) throws Exception {
    List<String> all = new ArrayList<>(List.of(options));
    all.addAll(List.of("--tp=2", "--sync", "--set=collectives=" + COLLECTIVES));
    EngineRun run = EngineRun.of(new Load(24, 8, 1, 0, 7), config, all);
    assertThat(run.lost).isZero();
    return run;
  }
}
