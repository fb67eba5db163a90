package io.inferspan.samples.desk;

import io.inferspan.catalog.BatchSpans;
import io.inferspan.catalog.GatewaySpans;
import io.inferspan.catalog.SpanType;
import io.inferspan.samples.desk.otlp.TestSpan;
import io.inferspan.semconv.BatchAttributes;
import io.inferspan.semconv.GenAiAttributes;
import io.inferspan.semconv.KernelAttributes;
import java.util.ArrayList;
import java.util.List;

/**
 * Spans of the eBPF bridge for a request that decodes in the same steps as two others. The prompt
 * of the heavy request lengthens one of these steps, and before that delays the request in the
 * queue.
 */
public final class EngineSteps {

  public static final long MINE = 1;
  public static final long HEAVY = 2;
  public static final long LIGHT = 3;

  private static final String AGENT = "inferspan-ebpf-agent";
  private static final long CALL = 10;
  private static final long FIRST_STEP_TRACE = 1_000;
  private static final int RANK = 77;

  private EngineSteps() {}

  /** Returns spans of the three requests, and of seven steps on each of two ranks. */
  public static List<TestSpan> all() {
    List<TestSpan> spans = requestsOnly();
    spans.addAll(steps(RANK));
    spans.addAll(steps(RANK + 1));
    return spans;
  }

  /** Returns the same spans as {@link #all}, but without those of the heavy request. */
  public static List<TestSpan> withAnUntracedPrompt() {
    List<TestSpan> spans = requestsOnly();
    spans.add(step(RANK, 3, 30, 40, new Batch(1, 0)).member(MINE, CALL, 0));
    spans.add(step(RANK, 4, 40, 80, new Batch(3, 1)).member(MINE, CALL, 0).member(LIGHT, CALL, 0));
    return spans;
  }

  /** Returns spans of the three requests, without steps. */
  public static List<TestSpan> requestsOnly() {
    List<TestSpan> spans = new ArrayList<>();
    spans.addAll(request(MINE, "mine"));
    spans.addAll(request(HEAVY, "heavy"));
    spans.addAll(request(LIGHT, "light"));
    spans.add(phase(BatchSpans.QUEUE, 11).at(2, 20));
    spans.add(shared(phase(BatchSpans.PREFILL, 12), 1, 30, 6, 10).at(20, 30));
    spans.add(shared(phase(BatchSpans.DECODE, 13), 4, 4, 8, 70).at(30, 100));
    return spans;
  }

  private static List<TestSpan> request(long trace, String id) {
    return List.of(
        TestSpan.of(GatewaySpans.REQUEST, "", "llm-gateway")
            .id(trace, 1, 0)
            .at(0, 110)
            .with(GenAiAttributes.REQUEST_MODEL, "tiny")
            .with(GenAiAttributes.REQUEST_ID, id),
        TestSpan.named("call", "llm-gateway").id(trace, CALL, 1).at(1, 105));
  }

  private static TestSpan phase(SpanType type, long id) {
    return TestSpan.of(type, "", AGENT).id(MINE, id, CALL).with(BatchAttributes.COVERAGE, 1.0);
  }

  private static TestSpan shared(
      TestSpan phase, long steps, long tokens, double shareMs, double busyMs) {
    return phase
        .with(BatchAttributes.STEPS, steps)
        .with(BatchAttributes.TOKENS, tokens)
        .with(BatchAttributes.SHARE_MS, shareMs)
        .with(BatchAttributes.BUSY_MS, busyMs)
        .with(BatchAttributes.MODEL, "prefill_weighted")
        .with(BatchAttributes.ERROR_BOUND_MS, busyMs - shareMs);
  }

  private static List<TestSpan> steps(int rank) {
    return List.of(
        step(rank, 1, 0, 14, new Batch(1, 1)).member(HEAVY, CALL, 200),
        step(rank, 2, 20, 30, new Batch(2, 1)).member(MINE, CALL, 30).member(LIGHT, CALL, 0),
        step(rank, 3, 30, 40, new Batch(3, 0)).member(MINE, CALL, 0).member(LIGHT, CALL, 0),
        step(rank, 4, 40, 80, new Batch(2, 1)).member(MINE, CALL, 0).member(HEAVY, CALL, 300),
        step(rank, 5, 80, 85, new Batch(1, 0)).member(LIGHT, CALL, 0),
        step(rank, 6, 85, 95, new Batch(1, 0)).member(MINE, CALL, 0),
        step(rank, 7, 95, 100, new Batch(2, 0)).member(MINE, CALL, 0).member(LIGHT, CALL, 0));
  }

  private record Batch(long members, long prefills) {}

  private static TestSpan step(int rank, long number, double from, double to, Batch batch) {
    return TestSpan.of(BatchSpans.STEP, "", AGENT)
        .id(FIRST_STEP_TRACE * rank + number, 1, 0)
        .at(from, to)
        .with(KernelAttributes.PROCESS_ID, (long) rank)
        .with(BatchAttributes.STEP, number)
        .with(BatchAttributes.MEMBERS, batch.members)
        .with(BatchAttributes.PREFILL_MEMBERS, batch.prefills)
        .with(BatchAttributes.BUSY_MS, to - from);
  }
}
