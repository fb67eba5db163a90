package io.inferspan.ebpf.spans;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.ebpf.batch.BatchCounters.Count;
import io.inferspan.ebpf.wire.Kind;
import org.junit.jupiter.api.Test;

/** Steps of an engine without a plugin, before and after pauses without a traced request. */
class EngineFramesPauseTest extends EngineMessages {

  @Test
  void stepThatMayHaveBegunBeforeCallsWereObserved_isIncomplete() {
    head(1, "a");
    add(2, "chatcmpl-a-0123abcd"); // slot 1 was added unobserved
    work();
    outputs(token(2)); // the first step of slot 2, which is complete
    pause();
    work();
    outputs(token(2));
    work();
    outputs(token(2) | FINISHED);

    assertThat(coverageOfSteps()).containsExactly(1.0, 0.0, 1.0);
  }

  @Test
  void stepsOfARequestThatFoundTheEngineIdle_areComplete() {
    addSampled();
    work(); // a chunk of the prompt
    outputs();
    work();
    outputs(token(1) | FINISHED);
    pause();
    add(2, "chatcmpl-b-0123abcd");
    work();
    outputs();

    assertThat(coverageOfSteps()).containsExactly(1.0, 1.0, 1.0);
  }

  @Test
  void stepAfterAPause_isIncompleteIfAnotherRequestMayRun() {
    head(1, "a");
    add(2, "chatcmpl-a-0123abcd"); // slot 1 was added unobserved
    work();
    outputs();
    work();
    outputs(token(2));
    kernel.happens(at(Kind.STEP_CHANGES, ENGINE).of(0, ABORTED, 0).changes(2L | FINISHED));
    pause();
    add(3, "chatcmpl-b-0123abcd"); // a step of slot 1 may still run
    work();
    work();
    work();
    outputs(token(3));

    assertThat(coverageOfSteps()).containsExactly(0.0, 1.0, 0.0, 1.0, 1.0);
  }

  @Test
  void requestsAndLaunchesBeforeAPause_doNotBelongToTheStepAfterIt() {
    addSampled();
    call(Kind.CUDA_LAUNCH, ENGINE, STREAM, 0);
    pause();
    add(2, "chatcmpl-b-0123abcd");
    work();
    outputs(token(2));

    assertThat(only("llm_d.engine.step").attributes())
        .containsEntry("llm_d.engine.step.members", 1L)
        .containsEntry("llm_d.engine.step.members.inferred", 0L)
        .containsEntry("attribution.coverage", 0.0);
  }

  @Test
  void stepThatBeganDuringAPause_isIncompleteIfEarlierOutputsAreReadLate() {
    head(1, "a");
    add(2, "chatcmpl-a-0123abcd"); // slot 1 was added unobserved
    work();
    long done = kernel.now;
    kernel.now += FakeKernel.MICRO;
    pause();
    outputsOf(done, token(2));
    work(); // the observed part of the next step
    outputs(token(2));

    assertThat(coverageOfSteps()).containsExactly(0.0, 0.0);
  }

  @Test
  void launchesAfterAPause_areIncompleteIfLaunchesBeforeItWereNotWaitedFor() {
    addSampled();
    call(Kind.CUDA_LAUNCH, ENGINE, STREAM, 0);
    pause(); // the wait for this launch is not observed
    long done = kernel.now;
    kernel.now += FakeKernel.MICRO;
    call(Kind.CUDA_LAUNCH, ENGINE, STREAM, 0); // of the next step
    outputsOf(done, token(1));
    work();
    outputs(token(1));

    assertThat(coverageOfSteps()).containsExactly(0.0, 0.0);
    assertThat(kernel.sink.steps().of(Count.AMBIGUOUS_LAUNCHES)).isEqualTo(4);
  }
}
