package io.inferspan.ebpf.spans;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.inferspan.ebpf.batch.BatchCounters.Count;
import io.inferspan.ebpf.wire.Kind;
import io.inferspan.testing.SpanRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Spans of the steps of an engine without a plugin, from records of its messages. */
class EngineFramesTest extends EngineMessages {

  @Test
  void step_hasTheRequestsThatGotTokens_andItsLaunches() {
    addSampled();
    add(2, "cmpl-unsampled-0-0123abcd");
    work();
    outputs(token(1), token(2));
    work();
    outputs(token(1) | FINISHED, token(2));
    kernel.sink.flush();

    assertThat(named("llm_d.engine.step"))
        .hasSize(2)
        .allSatisfy(
            step ->
                assertThat(step.attributes())
                    .containsEntry("llm_d.engine.step.members", 2L)
                    .containsEntry("llm_d.engine.step.members.unidentified", 0L)
                    .containsEntry("llm_d.engine.step.members.inferred", 0L)
                    .containsEntry("llm_d.engine.step.launches", 2L)
                    .containsEntry("attribution.source", "frames")
                    .containsEntry("attribution.coverage", 1.0));
    SpanRecord decode = only("llm_d.engine.decode");
    double busy = number(decode, "busy.ms");
    assertThat(busy).isBetween(1.0, 1.1);
    assertThat(decode.traceId()).isEqualTo("%016x%016x".formatted(7, 1));
    assertThat(decode.attributes())
        .containsEntry("llm_d.engine.steps", 1L)
        .containsEntry("attribution.membership", "observed")
        .containsEntry("attribution.model", "equal");
    assertThat(number(decode, "llm_d.engine.share_ms")).isEqualTo(busy / 2);
    assertThat(only("llm_d.engine.queue").endEpochNanos())
        .isEqualTo(only("llm_d.engine.prefill").startEpochNanos());
  }

  @Test
  void requestWithoutATokenYet_isInferred() {
    addSampled();
    head(2, "long");
    add(2, "chatcmpl-long-0123abcd");
    work();
    outputs(token(1));
    work();
    outputs(token(1), token(2) | FINISHED);
    kernel.sink.flush();

    assertThat(named("llm_d.engine.step").get(0).attributes())
        .containsEntry("llm_d.engine.step.members", 2L)
        .containsEntry("llm_d.engine.step.members.inferred", 1L);
    assertThat(named("llm_d.engine.prefill"))
        .extracting(span -> span.attributes().get("attribution.membership"))
        .containsExactlyInAnyOrder("observed", "inferred");
  }

  @Test
  void stepWithoutTokens_isInferredToHaveEachRequest() {
    addSampled();
    work();
    outputs(token(1));
    add(2, "cmpl-unsampled-0-0123abcd");
    work(); // a chunk of a prompt, of slot 2 or, recomputed, of slot 1
    outputs();
    work();
    outputs(token(1) | FINISHED, token(2));

    assertThat(coverageOfSteps()).containsExactly(1.0, 1.0, 1.0);
    assertThat(named("llm_d.engine.step").get(1).attributes())
        .containsEntry("llm_d.engine.step.members", 2L)
        .containsEntry("llm_d.engine.step.members.inferred", 2L);
    assertThat(only("llm_d.engine.decode").attributes())
        .containsEntry("llm_d.engine.steps", 2L)
        .containsEntry("attribution.membership", "inferred");
  }

  /** The request may have been in the step, for its prompt to be recomputed, or may have waited. */
  @Test
  void requestWithoutAFurtherToken_isInferredWithAnErrorBound() {
    addSampled();
    add(2, "cmpl-unsampled-0-0123abcd");
    work();
    outputs(token(1), token(2));
    work();
    outputs(token(2));
    work();
    outputs(token(1) | FINISHED, token(2));
    kernel.sink.flush();

    assertThat(named("llm_d.engine.step").get(1).attributes())
        .containsEntry("llm_d.engine.step.members", 2L)
        .containsEntry("llm_d.engine.step.members.inferred", 1L);
    SpanRecord decode = only("llm_d.engine.decode");
    assertThat(decode.attributes())
        .containsEntry("llm_d.engine.steps", 2L)
        .containsEntry("attribution.membership", "inferred");
    assertThat(number(decode, "attribution.error_bound_ms")).isCloseTo(1, within(0.1));
  }

  @Test
  void requestThatIsAbortedDuringAStep_isInferredToBeInThatStepOnly() {
    addSampled();
    add(2, "cmpl-unsampled-0-0123abcd");
    work();
    kernel.happens(at(Kind.STEP_CHANGES, ENGINE).of(0, ABORTED, 0).changes(1L | FINISHED));
    kernel.now += FakeKernel.MICRO;
    outputs(token(2));
    work();
    outputs(token(2));

    assertThat(named("llm_d.engine.step"))
        .extracting(step -> step.attributes().get("llm_d.engine.step.members.inferred"))
        .containsExactly(1L, 0L);
  }

  /** The outputs that could not be decoded may have contained the end of the request. */
  @Test
  void requestThatMayHaveEnded_isNotInferredBeforeItsNextToken() {
    addSampled();
    add(2, "cmpl-unsampled-0-0123abcd");
    add(3, "cmpl-long-0-0123abcd");
    work();
    outputs(token(1), token(2));
    kernel.happens(at(Kind.STEP_CHANGES, ENGINE).of(0, BROKEN | outputFields, 0).changes(token(1)));
    work();
    outputs(token(2));
    work();
    outputs(token(2));
    work();
    outputs(token(1), token(2));
    work();
    outputs(token(2));

    assertThat(named("llm_d.engine.step"))
        .extracting(step -> step.attributes().get("llm_d.engine.step.members.inferred"))
        .containsExactly(1L, 1L, 1L, 2L);
  }

  @Test
  void overlappingSteps_haveMembersButNoLaunches() {
    addSampled();
    work();
    call(Kind.CUDA_LAUNCH, ENGINE, STREAM, 0);
    call(Kind.CUDA_EVENT_RECORD, ENGINE, STREAM, EVENT + 1);
    call(Kind.CUDA_LAUNCH, ENGINE, STREAM, 0);
    call(Kind.CUDA_EVENT_SYNC, ENGINE, EVENT + 1, 0);
    outputs(token(1));
    kernel.sink.flush();

    assertThat(named("llm_d.engine.step").getLast().attributes())
        .containsEntry("llm_d.engine.step.members", 1L)
        .containsEntry("llm_d.engine.step.launches", 0L)
        .containsEntry("busy.ms", 0.0)
        .containsEntry("attribution.coverage", 0.0);
    assertThat(kernel.sink.steps().of(Count.AMBIGUOUS_LAUNCHES)).isEqualTo(2);
  }

  @Test
  void stepsWhoseOutputsAreSentLate_haveTheirLaunches() {
    addSampled();
    long[] done = new long[1_000];
    for (int step = 0; step < done.length; step++) {
      work();
      done[step] = kernel.now++;
    }
    for (long nanos : done) {
      outputsOf(nanos, token(1));
    }
    kernel.sink.flush();

    assertThat(named("llm_d.engine.step"))
        .hasSize(done.length)
        .extracting(step -> step.attributes().get("llm_d.engine.step.launches"))
        .containsOnly(2L);
  }

  @Test
  void launchesOfAWorker_areCountedButNotAttributed() {
    addSampled();
    call(Kind.CUDA_LAUNCH, WORKER, STREAM, 0);
    outputs(token(1) | FINISHED);
    kernel.sink.flush();

    assertThat(only("llm_d.engine.step").attributes())
        .containsEntry("llm_d.engine.step.launches", 0L)
        .containsEntry("attribution.coverage", 0.0);
    assertThat(kernel.sink.steps().of(Count.AMBIGUOUS_LAUNCHES)).isEqualTo(1);
  }

  @Test
  void twoLiveRequestsWithOneId_areAmbiguous() {
    addSampled();
    add(2, "chatcmpl-a-4567cdef"); // unsampled, with the same id
    work();
    outputs(token(1), token(2));
    kernel.sink.flush();

    assertThat(only("llm_d.engine.step").links()).isEmpty();
    assertThat(named("llm_d.engine.prefill")).isEmpty();
    assertThat(kernel.sink.steps().of(Count.AMBIGUOUS_SLOTS)).isEqualTo(1);
  }

  @Test
  void parallelSamples_areOneRequest() {
    head(1, "a");
    add(1, "0_chatcmpl-a-0123abcd");
    add(2, "1_chatcmpl-a-0123abcd");
    work();
    outputs(token(1), token(2));
    kernel.sink.flush();

    assertThat(only("llm_d.engine.prefill").attributes()).containsEntry("llm_d.engine.steps", 1L);
    assertThat(kernel.sink.steps().of(Count.AMBIGUOUS_SLOTS)).isZero();
  }

  @Test
  void requestId_isFoundIfTheEngineAddsNoSuffix() {
    head(1, "a-0123abcd");
    add(1, "chatcmpl-a-0123abcd");
    work();
    outputs(token(1));

    assertThat(only("llm_d.engine.step").links()).hasSize(1);
  }

  @Test
  void headReadByAnUnrelatedProcess_isNotLinked() {
    kernel.happens(at(Kind.OWNER_BEGAN, WORKER).under(1).result(1).named(7, 1, 9).requestId("a"));
    add(1, "chatcmpl-a-0123abcd");
    work();
    outputs(token(1) | FINISHED);
    kernel.sink.flush();

    assertThat(only("llm_d.engine.step").links()).isEmpty();
    assertThat(named("llm_d.engine.prefill")).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"19, 14", "18, 13"}) // an unknown number of fields; numbers of two releases
  void layoutOfNoRelease_isRefused(long ofRequests, long ofOutputs) {
    requestFields = ofRequests;
    outputFields = ofOutputs;
    addSampled();
    work();
    outputs(token(1) | FINISHED);
    kernel.sink.flush();

    assertThat(tracing.spans()).isEmpty();
    assertThat(kernel.sink.steps().of(Count.REFUSED_ENGINES)).isEqualTo(1);
  }

  @Test
  void plugin_replacesTheMessages() {
    addSampled();
    kernel.happens(
        at(Kind.SLOT_BOUND, WORKER)
            .under(0)
            .known(COOPERATIVE, 0)
            .of(1, 0, ENGINE | (long) API_SERVER << 32)
            .requestId("a"));
    outputs(token(1) | FINISHED);
    kernel.sink.flush();

    assertThat(tracing.spans())
        .noneMatch(span -> "frames".equals(span.attribute("attribution.source")));
    assertThat(named("llm_d.engine.step")).isEmpty();
  }

  @Test
  void brokenMessages_reduceTheCoverage() {
    addSampled();
    work();
    outputs(token(1));
    kernel.happens(at(Kind.STEP_CHANGES, ENGINE).of(0, BROKEN | outputFields, 0).changes(token(1)));
    work();
    outputs(token(1) | FINISHED);
    kernel.sink.flush();

    assertThat(only("llm_d.engine.prefill").attributes())
        .containsEntry("attribution.coverage", 0.5);
  }

  @Test
  void abortedRequest_endsAfterTheStepsThatHadBegun() {
    addSampled();
    work();
    kernel.happens(at(Kind.STEP_CHANGES, ENGINE).of(0, ABORTED, 0).changes(1L | FINISHED));
    outputs(token(1)); // of a step that began before the abort
    kernel.pass(2_000 * FakeKernel.MILLI);

    assertThat(only("llm_d.engine.prefill").attributes())
        .containsEntry("attribution.coverage", 1.0);
  }
}
