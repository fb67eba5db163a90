package io.inferspan.ebpf.spans;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.ebpf.batch.BatchCounters.Count;
import io.inferspan.ebpf.probe.ProcessIdentity;
import io.inferspan.ebpf.wire.DetailLevel;
import io.inferspan.ebpf.wire.DetailLevels;
import io.inferspan.ebpf.wire.EventBytes;
import io.inferspan.ebpf.wire.EventClass;
import io.inferspan.ebpf.wire.Kind;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Collectives of several ranks, with the sequence numbers that the kernel's programs assign. */
class CollectivesTest {

  private static final int FIRST = 70;
  private static final int SECOND = 71;
  private static final int STEP = 2;
  private static final int COOPERATIVE = 4;
  private static final long HASH = 0xabcdL;
  private static final long FLOAT16_SUM = 6L << 32;
  private static final String NCCL = "inferspan.ebpf.nccl.";

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  private final FakeKernel kernel = kernel();

  private FakeKernel kernel() {
    return new FakeKernel(tracing, FoldOptions.defaults());
  }

  private EventBytes at(Kind kind, int pid, long owner) {
    return EventBytes.of(kind)
        .from(kernel.now, kernel.now)
        .by(pid, pid)
        .under(owner)
        .known(COOPERATIVE, 0);
  }

  private void creates(int pid, long number, long hash, long rank, long ranks) {
    kernel.happens(
        at(Kind.NCCL_COMMUNICATOR, pid, 0).of(ranks | rank << Integer.SIZE, hash, number));
  }

  private static long word(long number, long sequence) {
    return Long.MIN_VALUE | number << 40 | sequence;
  }

  private void calls(int pid, Kind kind, long elements, long word) {
    kernel.happens(at(kind, pid, pid).of(elements, FLOAT16_SUM, word));
  }

  /** Runs a step that calls these collectives of communicator {@code number}. */
  private void step(int pid, long number, long... sequences) {
    kernel.happens(at(Kind.OWNER_BEGAN, pid, pid).result(STEP).of(0, 1, 1));
    for (long sequence : sequences) {
      calls(pid, Kind.NCCL_ALL_REDUCE, 10 + sequence, word(number, sequence));
    }
    kernel.happens(at(Kind.OWNER_ENDED, pid, pid).result(STEP).of(0, 0, 0));
  }

  private List<SpanRecord> steps() {
    kernel.sink.flush();
    return tracing.spans().stream().filter(one -> one.name().equals("llm_d.engine.step")).toList();
  }

  private @Nullable Object rankOfNextStep(int pid) {
    tracing.clear();
    step(pid, 0);
    return steps().get(0).attribute("llm_d.engine.rank");
  }

  private void assertCounts(long paired, long violations) {
    assertThat(kernel.sink.steps().of(Count.PAIRED_COLLECTIVES)).isEqualTo(paired);
    assertThat(kernel.sink.steps().of(Count.ORDER_VIOLATIONS)).isEqualTo(violations);
  }

  @Test
  void stepsOfTwoRanks_haveTheSameCommunicatorAndSequenceNumber() {
    creates(FIRST, 1, HASH, 0, 2);
    creates(SECOND, 2, HASH, 1, 2);
    step(FIRST, 1, 5, 6, 7);
    step(SECOND, 2, 5, 6, 7);

    assertThat(steps()).extracting(step -> step.attribute(NCCL + "rank")).containsExactly(0L, 1L);
    assertThat(steps())
        .allSatisfy(
            step ->
                assertThat(step.attributes())
                    .containsEntry(NCCL + "communicator", "0xabcd")
                    .containsEntry(NCCL + "ranks", 2L)
                    .containsEntry(NCCL + "sequence", 5L)
                    .containsEntry("llm_d.engine.step.collectives", 3L));
    assertCounts(3, 0);
  }

  /**
   * Asserts that the step has no sequence number, because its first reported collective may not be
   * its first one, and that the next step has one.
   */
  private void assertStepLacksNumbers() {
    assertThat(steps().getFirst().attributes())
        .containsEntry(NCCL + "communicator", "0xabcd")
        .containsEntry(NCCL + "rank", 0L)
        .containsEntry(NCCL + "ranks", 2L)
        .doesNotContainKeys(NCCL + "sequence", "llm_d.engine.step.collectives");
    tracing.clear();
    kernel.now += FakeKernel.MILLI;
    step(FIRST, 1, 8, 9);
    assertThat(steps().getFirst().attributes())
        .as("the next step")
        .containsEntry(NCCL + "sequence", 8L)
        .containsEntry("llm_d.engine.step.collectives", 2L);
  }

  @Test
  void stepWithSampledCalls_lacksNumbers() {
    creates(FIRST, 1, HASH, 0, 2);
    DetailLevels sampled = DetailLevels.FULL.with(EventClass.CALLS, DetailLevel.SAMPLED);
    kernel.sink.levels().note(sampled, kernel.now);
    kernel.now += FakeKernel.MILLI;
    step(FIRST, 1, 7);
    kernel.now += FakeKernel.MILLI;
    kernel.sink.levels().note(DetailLevels.FULL, kernel.now);

    assertStepLacksNumbers();
  }

  @Test
  void stepWithCallsThatAPolicyKept_lacksNumbers() {
    creates(FIRST, 1, HASH, 0, 2);
    kernel.happens(at(Kind.OWNER_BEGAN, FIRST, FIRST).result(STEP).of(0, 1, 1));
    calls(FIRST, Kind.NCCL_ALL_REDUCE, 8, word(1, 6));
    kernel.happens(at(Kind.NCCL_ALL_REDUCE, FIRST, FIRST).of(8, FLOAT16_SUM, word(1, 7)).judged(3));
    kernel.happens(at(Kind.OWNER_ENDED, FIRST, FIRST).result(STEP).of(0, 0, 0));

    assertStepLacksNumbers();
  }

  @Test
  void stepDuringWhichARecordIsLost_lacksNumbers() {
    creates(FIRST, 1, HASH, 0, 2);
    kernel.happens(at(Kind.OWNER_BEGAN, FIRST, FIRST).result(STEP).of(0, 1, 1));
    calls(FIRST, Kind.NCCL_ALL_REDUCE, 8, word(1, 7));
    kernel.now += FakeKernel.MILLI;
    kernel.lost++;
    kernel.happens(at(Kind.OWNER_ENDED, FIRST, FIRST).result(STEP).of(0, 0, 0));
    kernel.pass(FakeKernel.MILLI);

    assertStepLacksNumbers();
  }

  @Test
  void stepWhoseEndIsLost_lacksNumbers() {
    creates(FIRST, 1, HASH, 0, 2);
    kernel.happens(at(Kind.OWNER_BEGAN, FIRST, FIRST).result(STEP).of(0, 1, 1));
    calls(FIRST, Kind.NCCL_ALL_REDUCE, 8, word(1, 7));
    kernel.happens(at(Kind.OWNER_BEGAN, FIRST, FIRST).result(STEP).of(0, 1, 2));
    kernel.happens(at(Kind.OWNER_ENDED, FIRST, FIRST).result(STEP).of(0, 0, 0));

    assertStepLacksNumbers();
  }

  @Test
  void communicatorInUse_isComparedDespiteManyOthers() {
    creates(FIRST, 1, HASH, 0, 2);
    creates(SECOND, 2, HASH, 1, 2);
    for (int i = 1; i <= 256; i++) {
      creates(FIRST, 2 + i, HASH + i, 0, 2);
      calls(FIRST, Kind.NCCL_ALL_REDUCE, 8, word(1, i));
      calls(FIRST, Kind.NCCL_ALL_REDUCE, 8, word(2 + i, 1));
    }
    calls(SECOND, Kind.NCCL_ALL_REDUCE, 8, word(2, 256));

    assertCounts(1, 0);
  }

  @Test
  void spanOfACollective_hasItsSequenceNumber() {
    creates(FIRST, 1, HASH, 1, 4);
    kernel.happens(
        kernel.event(Kind.NCCL_ALL_GATHER, 10).by(FIRST, FIRST).of(8, FLOAT16_SUM, word(1, 9)));
    kernel.happens(
        kernel.event(Kind.NCCL_SEND, 10).by(FIRST, FIRST).of(8, FLOAT16_SUM, word(1, 0)));
    kernel.endRequest();

    assertThat(named("nccl.all_gather").attributes())
        .containsEntry(NCCL + "communicator", "0xabcd")
        .containsEntry(NCCL + "rank", 1L)
        .containsEntry(NCCL + "ranks", 4L)
        .containsEntry(NCCL + "sequence", 9L);
    assertThat(named("nccl.send").attributes())
        .containsEntry(NCCL + "communicator", "0xabcd")
        .doesNotContainKey(NCCL + "sequence");
  }

  private SpanRecord named(String name) {
    return tracing.spans().stream()
        .filter(span -> span.name().equals(name))
        .findFirst()
        .orElseThrow();
  }

  /** The record has the address of such a communicator, and no sequence number. */
  @Test
  void communicatorWhoseCreationWasNotObserved_hasNoRankAndNoNumbers() {
    step(FIRST, 0);
    kernel.happens(at(Kind.OWNER_BEGAN, SECOND, SECOND).result(STEP).of(0, 1, 1));
    calls(SECOND, Kind.NCCL_ALL_REDUCE, 8, 0x7f00_1234L);
    kernel.happens(at(Kind.OWNER_ENDED, SECOND, SECOND).result(STEP).of(0, 0, 0));

    assertThat(steps())
        .hasSize(2)
        .allSatisfy(
            step ->
                assertThat(step.attributes())
                    .doesNotContainKeys(
                        NCCL + "communicator",
                        NCCL + "sequence",
                        "llm_d.engine.rank",
                        "llm_d.engine.step.collectives"));
    assertThat(named("nccl.all_reduce").attributes())
        .doesNotContainKeys(NCCL + "sequence", NCCL + "rank");
    assertThat(named("nccl.all_reduce").attributes().toString()).doesNotContain("7f001234");
    assertCounts(0, 0);
  }

  @Test
  void differentOperationsOfRanks_areCountedAsViolations() {
    creates(FIRST, 1, HASH, 0, 2);
    creates(SECOND, 2, HASH, 1, 2);
    calls(FIRST, Kind.NCCL_ALL_REDUCE, 8, word(1, 1));
    calls(FIRST, Kind.NCCL_ALL_REDUCE, 16, word(1, 2));
    calls(FIRST, Kind.NCCL_ALL_REDUCE, 4, word(1, 3));
    calls(SECOND, Kind.NCCL_ALL_REDUCE, 16, word(2, 1));
    calls(SECOND, Kind.NCCL_ALL_REDUCE, 8, word(2, 2));
    calls(SECOND, Kind.NCCL_ALL_REDUCE, 4, word(2, 3));
    calls(FIRST, Kind.NCCL_ALL_GATHER, 4, word(1, 4));
    calls(SECOND, Kind.NCCL_REDUCE_SCATTER, 4, word(2, 4));

    assertCounts(1, 3);
  }

  @Test
  void communicatorsOfOneProcess_areNotCompared() {
    creates(FIRST, 1, HASH, 0, 2);
    creates(FIRST, 2, HASH + 1, 0, 2);
    calls(FIRST, Kind.NCCL_ALL_REDUCE, 8, word(1, 1));
    calls(FIRST, Kind.NCCL_ALL_REDUCE, 16, word(2, 1));

    assertCounts(0, 0);
  }

  @Test
  void rankOfAWorker_isThatInItsLargestCommunicator() {
    creates(FIRST, 1, HASH, 0, 1);
    assertThat(rankOfNextStep(FIRST)).isNull();
    kernel.happens(at(Kind.PROCESS_EXITED, FIRST, 0));

    creates(FIRST, 2, HASH, 1, 2);
    creates(FIRST, 3, HASH + 1, 3, 4);
    creates(FIRST, 4, HASH + 2, 2, 4);
    creates(FIRST, 5, HASH + 3, 0, 2);
    assertThat(rankOfNextStep(FIRST)).isEqualTo("3");
    kernel.happens(at(Kind.PROCESS_EXITED, FIRST, 0));

    assertThat(rankOfNextStep(FIRST)).as("rank of another process with the same pid").isNull();
  }

  @Test
  void rankInTheTitle_takesPrecedenceOverTheCommunicator() {
    kernel.processes.put(FIRST, new ProcessIdentity("python3", null, null, "TP1"));
    creates(FIRST, 1, HASH, 3, 4);

    assertThat(rankOfNextStep(FIRST)).isEqualTo("TP1");
  }
}
