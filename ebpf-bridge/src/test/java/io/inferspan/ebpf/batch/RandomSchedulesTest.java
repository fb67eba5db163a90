package io.inferspan.ebpf.batch;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Random schedules: no wrong member, shares that add up, and a coverage below 1 after losses. */
class RandomSchedulesTest {

  private static final long PREFILL = 1L << 56;

  /** Collects what is written, and checks each step as it comes. */
  private static final class Collected implements Batches.Sink {
    final Map<String, BatchRequest> requests = new HashMap<>();
    final Map<String, Long> shares = new HashMap<>();
    final List<Step> steps = new ArrayList<>();

    @Override
    public void done(Step step) {}

    @Override
    public void measured(Step step) {
      if (!step.known) {
        return;
      }
      long sum = 0;
      for (int i = 0; i < step.size; i++) {
        assertThat(step.shares[i]).isNotNegative();
        sum += step.shares[i];
        BatchRequest request = step.requests[i];
        if (request != null) {
          shares.merge(request.id, step.shares[i], Long::sum);
        }
      }
      assertThat(sum).isEqualTo(step.size == 0 ? 0 : step.busyNanos);
      steps.add(step);
    }

    @Override
    public void request(BatchRequest request) {
      assertThat(requests.put(request.id, request)).isNull();
    }
  }

  private final Collected written = new Collected();

  private FakeEngine play(ShareModel model, long seed, BooleanSupplier lost) {
    Random random = new Random(seed);
    Batches batches = new Batches(model, 1_000, written, (from, to) -> false);
    return play(new FakeEngine(batches, random, 7, seed % 2 == 0, lost), batches, random);
  }

  private <T extends FakeEngine> T play(T engine, Batches batches, Random random) {
    written.requests.clear();
    written.shares.clear();
    written.steps.clear();
    int requests = 1 + random.nextInt(40);
    int added = 0;
    while (added < requests || !engine.idle()) {
      if (added < requests && random.nextInt(2) == 0) {
        engine.add(++added, true);
      }
      engine.runStep();
      batches.expire(engine.nanos);
    }
    engine.runStep();
    batches.allDone(7, engine.nanos);
    batches.close(engine.nanos);
    return engine;
  }

  private static Map<String, Long> members(Step step) {
    Map<String, Long> members = new HashMap<>();
    for (int i = 0; i < step.size; i++) {
      BatchRequest request = Objects.requireNonNull(step.requests[i]);
      members.put(request.id.substring(2), (step.prefill[i] ? PREFILL : 0) | step.tokens[i]);
    }
    return members;
  }

  @ParameterizedTest
  @EnumSource
  void nothingLost_membersAreExactAndSharesAddUp(ShareModel model) {
    for (int seed = 0; seed < 10_000 / ShareModel.values().length; seed++) {
      FakeEngine engine = play(model, seed, () -> false);
      assertThat(written.steps).hasSize((int) engine.step);
      for (Step step : written.steps) {
        assertThat(members(step)).isEqualTo(engine.truth.get(step.number));
        assertThat(step.complete).isTrue();
      }
      written.requests.forEach(
          (id, request) -> {
            String name = id.substring(2);
            assertThat(request.coverage()).isEqualTo(1);
            assertThat(request.prefill.steps)
                .isEqualTo((long) engine.prefillSteps.getOrDefault(name, 0));
            assertThat(request.decode.steps)
                .isEqualTo((long) engine.decodeSteps.getOrDefault(name, 0));
            assertThat(request.prefill.shareNanos + request.decode.shareNanos)
                .isEqualTo(written.shares.getOrDefault(id, 0L));
          });
    }
  }

  @ParameterizedTest
  @EnumSource
  void recordsLost_noMemberIsWrongAndAffectedRequestsHaveACoverageBelowOne(ShareModel model) {
    for (int seed = 0; seed < 1_000; seed++) {
      String as = "seed " + seed;
      Random losses = new Random(seed);
      FakeEngine engine = play(model, seed, () -> losses.nextInt(100) == 0);
      for (Step step : written.steps) {
        assertThat(members(step)).isEqualTo(engine.truth.get(step.number));
      }
      written.requests.forEach(
          (id, request) ->
              assertThat(request.coverage() < 1)
                  .as("%s, %s of %s steps", as, request.incompleteSteps, request.steps)
                  .isEqualTo(engine.affected.containsKey(id.substring(2))));
    }
  }

  /** Requests are preempted, or aborted during a step, and steps overlap. */
  @Test
  void framesOfAnEngine_noObservedMemberIsWrongAndErrorsAreBounded() {
    for (int seed = 0; seed < 3_000; seed++) {
      String as = "seed " + seed;
      Random random = new Random(seed);
      Batches batches = new Batches(ShareModel.EQUAL, 1_000, written, (from, to) -> false);
      FakeFrames engine = play(new FakeFrames(batches, random, 7, seed % 4 == 0), batches, random);
      Map<String, Double> truth = new HashMap<>();
      for (Step step : written.steps) {
        assertThat(observed(step))
            .as(as)
            .isEqualTo(engine.outputs.getOrDefault(step.doneNanos, Set.of()));
        if (step.busyNanos > 0) {
          Map<String, Long> costs = Objects.requireNonNull(engine.costs.get(step.beganNanos));
          double all = costs.values().stream().mapToLong(Long::longValue).sum();
          costs.forEach((id, cost) -> truth.merge(id, step.busyNanos * cost / all, Double::sum));
        }
      }
      written.requests.forEach(
          (id, request) -> {
            long share = request.prefill.shareNanos + request.decode.shareNanos;
            double bound = request.prefill.errorBoundNanos + request.decode.errorBoundNanos;
            assertThat(share).as("%s of %s", id, as).isEqualTo(written.shares.getOrDefault(id, 0L));
            assertThat(Math.abs(share - truth.getOrDefault(id.substring(2), 0.0)))
                .as("%s of %s", id, as)
                .isLessThanOrEqualTo(bound + 0.01); // The error of floating point.
          });
    }
  }

  private static Set<String> observed(Step step) {
    Set<String> observed = new HashSet<>();
    for (int i = 0; i < step.size; i++) {
      if (!step.inferred[i]) {
        observed.add(Objects.requireNonNull(step.requests[i]).id.substring(2));
      }
    }
    return observed;
  }
}
