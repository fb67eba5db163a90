package io.inferspan.samples.desk.trace;

import io.inferspan.samples.desk.store.Decision;
import io.inferspan.semconv.GenAiAttributes;
import io.inferspan.semconv.PdAttributes;
import org.jspecify.annotations.Nullable;

/**
 * The prefill and decode stages of a request. A value that no span reports is null.
 *
 * @param transferNanos the time that the decode engine waited for the KV blocks
 * @param overheadNanos the time between the end of prefill and the start of decode
 */
public record PdTimeline(
    @Nullable Decision decision,
    @Nullable Stage prefill,
    @Nullable Stage decode,
    @Nullable Long transferNanos,
    @Nullable Long firstTokenNanos,
    @Nullable Long overheadNanos) {

  /** The time range of a stage, and its pod. */
  public record Stage(long startNanos, long endNanos, @Nullable String pod) {}

  /**
   * Returns the stages, or null if the trace has no decision, no P/D proxy and no prefill stage.
   */
  static @Nullable PdTimeline read(RequestPath path, @Nullable Decision decision) {
    Stage prefill = stage(path.prefillStage(), path.prefillEngine(), Pod.ofPrefill(path));
    Stage decode = stage(path.decodeStage(), path.answeringEngine(), Pod.ofDecode(path));
    if (decision == null && path.proxy() == null && prefill == null) {
      return null;
    }
    Node engine = path.answeringEngine();
    Long ttft = path.ttftNanos();
    return new PdTimeline(
        decision,
        prefill,
        decode,
        engine == null || prefill == null
            ? null
            : RequestPath.seconds(engine, GenAiAttributes.LATENCY_TIME_IN_QUEUE),
        ttft == null ? null : (Long) (path.arrival().span().startNanos() + ttft),
        overhead(path));
  }

  private static @Nullable Long overhead(RequestPath path) {
    Node proxy = path.proxy();
    Long reported =
        proxy == null ? null : RequestPath.millis(proxy, PdAttributes.COORDINATOR_OVERHEAD_MS);
    Node decode = path.decodeStage();
    return reported != null || decode == null
        ? reported
        : RequestPath.millis(decode, PdAttributes.COORDINATOR_OVERHEAD_MS);
  }

  private static @Nullable Stage stage(
      @Nullable Node stage, @Nullable Node engine, @Nullable String pod) {
    Node shown = stage == null ? engine : stage;
    return shown == null
        ? null
        : new Stage(shown.span().startNanos(), shown.span().endNanos(), pod);
  }
}
