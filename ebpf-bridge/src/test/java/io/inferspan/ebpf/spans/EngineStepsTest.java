package io.inferspan.ebpf.spans;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.ebpf.batch.BatchCounters.Count;
import io.inferspan.ebpf.wire.DetailLevel;
import io.inferspan.ebpf.wire.DetailLevels;
import io.inferspan.ebpf.wire.EventBytes;
import io.inferspan.ebpf.wire.EventClass;
import io.inferspan.ebpf.wire.Kind;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Spans of the steps of an engine with the plugin, from records as the kernel writes them. */
class EngineStepsTest {

  private static final int API_SERVER = 50;
  private static final int ENGINE = 60;
  private static final int WORKER = 70;
  private static final int STEP = 2;
  private static final int COOPERATIVE = 4;
  private static final int CHUNK = 16;
  private static final long EVENT = 0xe0;
  private static final long PREFILL = 1L << 56;
  private static final long FINISHED = 1L << 57;

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  private final FakeKernel kernel = kernel();
  private int lostChunk = -1;
  private boolean losesWait;
  private boolean reportsLaunches = true;

  private FakeKernel kernel() {
    return new FakeKernel(tracing, FoldOptions.defaults());
  }

  /** Makes a process read a sampled head with the ids 7, {@code number} and 9. */
  private void head(int tgid, long number, String requestId) {
    kernel.happens(
        at(Kind.OWNER_BEGAN, tgid, number).result(1).named(7, number, 9).requestId(requestId));
  }

  private void bind(long slot, String requestId) {
    kernel.happens(bound(slot, requestId));
  }

  private EventBytes bound(long slot, String requestId) {
    return at(Kind.SLOT_BOUND, WORKER, 0)
        .of(slot, 0, ENGINE | (long) API_SERVER << 32)
        .requestId(requestId);
  }

  private EventBytes at(Kind kind, int tgid, long owner) {
    return EventBytes.of(kind)
        .from(kernel.now, kernel.now)
        .by(tgid, tgid)
        .under(owner)
        .known(COOPERATIVE, 0);
  }

  /** Runs a step with two launches; the wait for them is after the step's end. */
  private void step(long number, boolean full, long... changes) {
    long owner = 1_000 + number;
    kernel.happens(
        at(Kind.OWNER_BEGAN, WORKER, owner).result(STEP).of(changes.length, full ? 1 : 0, number));
    for (int from = 0; from < changes.length; from += CHUNK) {
      if (from / CHUNK != lostChunk) {
        long[] some = Arrays.copyOfRange(changes, from, Math.min(from + CHUNK, changes.length));
        kernel.happens(at(Kind.STEP_CHANGES, WORKER, owner).of(from, 0, 0).changes(some));
      }
    }
    if (reportsLaunches) {
      call(Kind.CUDA_LAUNCH, owner, 0, 0);
      call(Kind.CUDA_LAUNCH, owner, 0, 0);
    }
    call(Kind.CUDA_EVENT_RECORD, owner, 0, EVENT);
    kernel.happens(at(Kind.OWNER_ENDED, WORKER, owner).result(STEP).of(2, 0, 0));
    kernel.now += FakeKernel.MILLI;
    if (losesWait) {
      kernel.lost++;
    } else {
      call(Kind.CUDA_EVENT_SYNC, owner, EVENT, 0);
    }
  }

  private void call(Kind kind, long owner, long detail, long extra) {
    kernel.happens(at(kind, WORKER, owner).of(1, detail, extra));
  }

  private List<SpanRecord> named(String name) {
    return tracing.spans().stream().filter(span -> span.name().equals(name)).toList();
  }

  private static String trace(long number) {
    return "%016x%016x".formatted(7, number);
  }

  private static long decode(long slot) {
    return slot | 1L << 32;
  }

  @Test
  void changesInSeveralRecords_areMembersOfOneStep() {
    for (int slot = 1; slot <= 40; slot++) {
      head(API_SERVER, slot, "r" + slot);
      bind(slot, "r" + slot);
    }
    step(1, true, LongStream.rangeClosed(1, 40).map(EngineStepsTest::decode).toArray());
    kernel.sink.flush();

    SpanRecord step = named("llm_d.engine.step").get(0);
    assertThat(step.attributes())
        .containsEntry("llm_d.engine.step.members", 40L)
        .containsEntry("llm_d.engine.step.launches", 2L)
        .containsEntry("attribution.coverage", 1.0)
        .containsEntry("busy.ms", 1.0);
    assertThat(step.links())
        .extracting(SpanRecord.LinkRecord::traceId)
        .containsExactlyInAnyOrderElementsOf(
            LongStream.rangeClosed(1, 40).mapToObj(EngineStepsTest::trace).toList());
    assertThat(named("llm_d.engine.decode")).hasSize(40);
    assertThat(named("cuda.launch (folded)"))
        .hasSize(1)
        .allMatch(span -> span.parentSpanId().equals(step.spanId()));
    assertThat(kernel.sink.accounting().dropped()).isZero();
    assertThat(kernel.sink.accounting().held()).isZero();
  }

  /** A CUDA event that is recorded in the middle of a step does not show the step's end. */
  @Test
  void busyTimeOfUnreportedLaunches_isFromTheStepsBeginToItsLastCudaEvent() {
    head(API_SERVER, 1, "r1");
    bind(1, "r1");
    reportsLaunches = false;
    kernel
        .sink
        .levels()
        .note(DetailLevels.FULL.with(EventClass.LAUNCHES, DetailLevel.COUNTED), kernel.now);
    kernel.now += FakeKernel.MILLI;
    kernel.happens(at(Kind.OWNER_BEGAN, WORKER, 999).result(STEP).of(1, 1, 1));
    kernel.happens(at(Kind.STEP_CHANGES, WORKER, 999).of(0, 0, 0).changes(decode(1)));
    call(Kind.CUDA_EVENT_RECORD, 999, 0, EVENT);
    kernel.now += FakeKernel.MILLI;
    call(Kind.CUDA_EVENT_SYNC, 999, EVENT, 0);
    call(Kind.CUDA_EVENT_RECORD, 999, 0, EVENT + 1);
    kernel.happens(at(Kind.OWNER_ENDED, WORKER, 999).result(STEP).of(2, 0, 0));
    kernel.now += FakeKernel.MILLI;
    call(Kind.CUDA_EVENT_SYNC, 999, EVENT + 1, 0);
    kernel.sink.flush();

    assertThat(named("llm_d.engine.step").get(0).attributes())
        .containsEntry("busy.ms", 2.0)
        .containsEntry("busy.source", "marks")
        .containsEntry("inferspan.ebpf.level", "launches:counted")
        .containsEntry("llm_d.engine.step.launches", 2L)
        .containsEntry("attribution.coverage", 1.0);
    assertThat(named("llm_d.engine.decode").get(0).attributes())
        .containsEntry("llm_d.engine.share_ms", 2.0)
        .as("error bound, because the device may have begun later")
        .containsEntry("attribution.error_bound_ms", 2.0);
  }

  @Test
  void lostChanges_makeMembersUnknownUntilAllAreReported() {
    for (int slot = 1; slot <= 20; slot++) {
      head(API_SERVER, slot, "r" + slot);
      bind(slot, "r" + slot);
    }
    lostChunk = 0;
    step(1, true, LongStream.rangeClosed(1, 20).map(EngineStepsTest::decode).toArray());
    lostChunk = -1;
    step(2, false, decode(1), decode(2));
    step(3, true, decode(1), decode(2));
    kernel.sink.flush();

    assertThat(named("llm_d.engine.step"))
        .extracting(span -> span.attribute("llm_d.engine.step.number"))
        .containsExactly(2L, 3L);
    assertThat(named("llm_d.engine.step").get(0).links()).isEmpty();
    assertThat(named("llm_d.engine.step").get(0).attributes())
        .containsEntry("attribution.coverage", 0.0);
    assertThat(named("llm_d.engine.step").get(1).links()).hasSize(2);
    assertThat(named("llm_d.engine.decode"))
        .hasSize(2)
        .allMatch(
            span ->
                span.attribute("attribution.coverage") instanceof Double coverage && coverage < 1);
    assertThat(kernel.sink.steps().of(Count.UNKNOWN_STEPS)).isOne();
  }

  @Test
  void headReadByAnUnrelatedProcess_isNotLinked() {
    head(API_SERVER + 1, 1, "r1");
    bind(1, "r1");
    step(1, true, 1 | 5L << 32 | PREFILL);
    kernel.sink.flush();

    assertThat(named("llm_d.engine.step").get(0).links()).isEmpty();
    assertThat(named("llm_d.engine.prefill")).isEmpty();
  }

  @Test
  void twoLiveHeadsWithOneId_areNotLinked() {
    head(API_SERVER, 1, "r");
    head(API_SERVER, 2, "r");
    bind(1, "r");
    step(1, true, decode(1));
    kernel.sink.flush();

    assertThat(named("llm_d.engine.step").get(0).links()).isEmpty();
  }

  @Test
  void traceparentOfASlot_isTheParentOfItsSpans() {
    kernel.happens(bound(1, "r1").named(1, 2, 3));
    step(1, true, decode(1));
    kernel.pass(FakeKernel.MILLI);
    step(2, false, 1 | FINISHED);
    kernel.sink.flush();

    SpanRecord decode = named("llm_d.engine.decode").get(0);
    assertThat(decode.traceId()).isEqualTo("%016x%016x".formatted(1, 2));
    assertThat(decode.parentSpanId()).isEqualTo("%016x".formatted(3));
    assertThat(named("llm_d.engine.queue")).isEmpty();
  }

  @Test
  void requestOfAProcessThatExitsBeforeItsFirstStep_ends() {
    head(API_SERVER, 1, "r1");
    bind(1, "r1");
    kernel.happens(at(Kind.PROCESS_EXITED, WORKER, 0));
    kernel.pass(5_000 * FakeKernel.MILLI);

    assertThat(kernel.sink.steps().of(Count.REQUESTS)).isEqualTo(1);
  }

  @Test
  void uncountedLaunches_makeTheCoverageZero() {
    head(API_SERVER, 1, "r1");
    bind(1, "r1");
    long owner = 1_001;
    kernel.happens(at(Kind.OWNER_BEGAN, WORKER, owner).result(STEP).of(1, 1, 1));
    kernel.happens(at(Kind.STEP_CHANGES, WORKER, owner).changes(decode(1)));
    kernel.happens(at(Kind.OWNER_ENDED, WORKER, owner).result(STEP).of(-1, 0, 0));
    kernel.sink.flush();

    assertThat(named("llm_d.engine.step").get(0).attributes())
        .containsEntry("attribution.coverage", 0.0);
  }

  @Test
  void lostWait_makesTheCoverageOfItsStepAndTheNextZero() {
    head(API_SERVER, 1, "r1");
    bind(1, "r1");
    step(1, true, decode(1));
    kernel.pass(10 * FakeKernel.MILLI);
    losesWait = true;
    step(2, false);
    losesWait = false;
    kernel.pass(10 * FakeKernel.MILLI);
    step(3, false);
    kernel.pass(10 * FakeKernel.MILLI);
    step(4, false);
    kernel.sink.flush();

    assertThat(named("llm_d.engine.step"))
        .extracting(span -> span.attribute("attribution.coverage"))
        .containsExactly(1.0, 0.0, 0.0, 1.0);
    assertThat(named("llm_d.engine.decode").get(0).attributes())
        .containsEntry("attribution.coverage", 0.5);
  }

  @Test
  void waitForAnotherStream_doesNotEndAStep() {
    long owner = 1_001;
    kernel.happens(at(Kind.OWNER_BEGAN, WORKER, owner).result(STEP).of(0, 1, 1));
    call(Kind.CUDA_LAUNCH, owner, 0x5100, 0);
    kernel.happens(at(Kind.OWNER_ENDED, WORKER, owner).result(STEP).of(1, 0, 0));
    kernel.now += FakeKernel.MILLI;
    call(Kind.CUDA_STREAM_SYNC, owner, 0x5200, 0);
    assertThat(named("llm_d.engine.step")).isEmpty();
    kernel.now += FakeKernel.MILLI;
    call(Kind.CUDA_STREAM_SYNC, owner, 0x5100, 0);

    assertThat(named("llm_d.engine.step").get(0).attributes()).containsEntry("busy.ms", 2.0);
  }

  @Test
  void waitLongAfterTheLastStep_isNotALoss() {
    step(1, true);
    kernel.pass(10_000 * FakeKernel.MILLI).pass(10_000 * FakeKernel.MILLI);
    call(Kind.CUDA_STREAM_SYNC, 1_001, 0x5100, 0);
    kernel.sink.flush();

    assertThat(kernel.sink.accounting().dropped()).isZero();
    assertThat(named("cuda.stream_sync")).isEmpty();
  }
}
