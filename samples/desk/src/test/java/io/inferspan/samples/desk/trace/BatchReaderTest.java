package io.inferspan.samples.desk.trace;

import static io.inferspan.samples.desk.EngineSteps.HEAVY;
import static io.inferspan.samples.desk.EngineSteps.LIGHT;
import static io.inferspan.samples.desk.EngineSteps.MINE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.inferspan.catalog.SpanNaming;
import io.inferspan.samples.desk.EngineSteps;
import io.inferspan.samples.desk.otlp.Drops;
import io.inferspan.samples.desk.otlp.TestSpan;
import io.inferspan.samples.desk.otlp.TraceId;
import io.inferspan.samples.desk.store.Bounds;
import io.inferspan.samples.desk.store.SpanStore;
import io.inferspan.samples.desk.trace.BatchPart.Neighbour;
import io.inferspan.samples.desk.trace.BatchPart.Steps;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A request's part in an engine's batches, from spans of the engine. */
class BatchReaderTest {

  private static final long MILLI = 1_000_000;
  private static final int MAX_STEPS = 100;

  private final SpanStore store =
      new SpanStore(Bounds.of(1_000, Long.MAX_VALUE), new Drops(), new SummaryReader());

  private TraceView view(List<TestSpan> spans) {
    store.add(TestSpan.received(spans.toArray(TestSpan[]::new)));
    store.summarise(TimeUnit.SECONDS.toNanos(10));
    return TraceView.read(
        Objects.requireNonNull(store.find(new TraceId(MINE, MINE))),
        new TraceView.Others(
            store.list().newestFirst(),
            store::summary,
            wanted -> store.having(wanted, MAX_STEPS),
            0));
  }

  private BatchPart part() {
    List<BatchPart> parts = view(EngineSteps.all()).parts();
    assertThat(parts).hasSize(1);
    return parts.get(0);
  }

  @Test
  void phases_areTheRequestsOwn() {
    assertThat(part().phases())
        .extracting(BatchPart.Phase::name, BatchPart.Phase::steps, BatchPart.Phase::shareNanos)
        .containsExactly(
            tuple("queue", null, null),
            tuple("prefill", 1L, 6 * MILLI),
            tuple("decode", 4L, 8 * MILLI));
  }

  @Test
  void steps_areThoseOfOneRank() {
    Steps steps = Objects.requireNonNull(part().steps());

    assertThat(steps.ran()).isEqualTo(5);
    assertThat(steps.seen()).isEqualTo(5);
    assertThat(steps.mostMembers()).isEqualTo(3);
    assertThat(steps.mostUntraced()).isEqualTo(1);
  }

  @Test
  void waits_areQueueingStallsAndStepsWithoutTheRequest() {
    BatchPart.Waits waits = Objects.requireNonNull(part().steps()).waits();

    assertThat(waits.queuedBehind()).isEqualTo(1);
    assertThat(waits.stalls()).isEqualTo(1);
    assertThat(waits.stallNanos()).isEqualTo(30 * MILLI);
    assertThat(waits.leftOut()).isEqualTo(1);
    assertThat(waits.leftOutNanos()).isEqualTo(5 * MILLI);
    assertThat(waits.untracedNanos()).isZero();
  }

  @Test
  void promptThatDelayedTheRequest_isListedFirst() {
    List<Neighbour> neighbours = part().neighbours();

    assertThat(neighbours)
        .extracting(Neighbour::traceId)
        .containsExactly(new TraceId(HEAVY, HEAVY), new TraceId(LIGHT, LIGHT));
    assertThat(neighbours.get(0).steps()).isEqualTo(1);
    assertThat(neighbours.get(0).promptTokens()).isEqualTo(500);
    // 12 ms of its prompt ran while this request was queued; a step took 30 ms longer than usual.
    assertThat(neighbours.get(0).waitNanos()).isEqualTo(42 * MILLI);
    assertThat(neighbours.get(1).steps()).isEqualTo(3);
    assertThat(neighbours.get(1).waitNanos()).isZero();
    assertThat(Objects.requireNonNull(neighbours.get(1).other()).requestId()).isEqualTo("light");
  }

  @Test
  void waitForAnUntracedPrompt_isAttributedToNoTracedRequest() {
    BatchPart part = view(EngineSteps.withAnUntracedPrompt()).parts().get(0);

    assertThat(part.neighbours()).extracting(Neighbour::waitNanos).containsOnly(0L);
    assertThat(Objects.requireNonNull(part.steps()).waits().untracedNanos()).isEqualTo(30 * MILLI);
  }

  @Test
  void requestWithoutSteps_hasItsPhasesOnly() {
    BatchPart part = view(EngineSteps.requestsOnly()).parts().get(0);

    assertThat(part.phases()).hasSize(3);
    assertThat(part.steps()).isNull();
    assertThat(part.neighbours()).isEmpty();
  }

  @Test
  void steps_areNotListedAsRequests() {
    part();

    assertThat(store.list().newestFirst())
        .extracting(summary -> summary.head().name())
        .containsOnly("gateway.request");
    assertThat(store.size().traces()).isEqualTo(3 + 14);
  }

  @Test
  void phases_areNotInTheFlameGraph() {
    assertThat(view(EngineSteps.all()).flame()).isNull();
  }

  @Test
  void requestOfAnotherEngine_hasNoPart() {
    assertThat(Traces.view(Traces.disaggregated(SpanNaming.PROPOSAL)).parts()).isEmpty();
  }
}
