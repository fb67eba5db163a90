package io.inferspan.setup;

import io.inferspan.exporter.AccountedSpanExporter;
import io.inferspan.exporter.ExportAccounting;
import io.inferspan.recording.SpanPipeline;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.common.CompletableResultCode;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * An SDK that Inferspan built, with the objects that belong to it.
 *
 * @param sdk the SDK
 * @param accounting counts the spans by outcome
 * @param exporters the span exporters
 * @param pipeline the components shared by all spans, or null if a plugin may have changed them
 * @param disabled whether {@code OTEL_SDK_DISABLED} is set, so that contexts are only propagated
 * @param summary one sentence: the destination of spans, the sampler and the service
 */
public record InstalledSdk(
    OpenTelemetrySdk sdk,
    ExportAccounting accounting,
    List<AccountedSpanExporter> exporters,
    @Nullable SpanPipeline pipeline,
    boolean disabled,
    String summary) {

  private static final int MAX_FLUSHES = 100;
  private static final long BETWEEN_FLUSHES_NANOS = 200_000;

  /**
   * Waits until all ended spans are sent or lost, at most {@code bound}; returns whether the
   * exports succeeded in time.
   */
  public boolean flush(Duration bound) {
    long deadline = System.nanoTime() + bound.toNanos();
    long endedNow = accounting.ended();
    boolean flushed = flushOnce(bound.toNanos());
    // A flush may return the result of an earlier one that is still running.
    for (int i = 1; flushed && i < MAX_FLUSHES && accounting.processed() < endedNow; i++) {
      LockSupport.parkNanos(BETWEEN_FLUSHES_NANOS);
      flushed = flushOnce(deadline - System.nanoTime());
    }
    return flushed;
  }

  private boolean flushOnce(long nanos) {
    CompletableResultCode flushed = sdk.getSdkTracerProvider().forceFlush();
    return flushed.join(Math.max(0, nanos), TimeUnit.NANOSECONDS).isSuccess();
  }

  /**
   * Exports as many spans as possible within {@code bound}, drops the rest, and closes the
   * accounting.
   */
  public void close(Duration bound) {
    accounting.stop();
    long deadline = System.nanoTime() + bound.toNanos();
    flush(bound);
    long left = Math.max(0, deadline - System.nanoTime());
    CompletableResultCode done = sdk.shutdown().join(left, TimeUnit.NANOSECONDS);
    accounting.close();
    if (!done.isDone()) {
      // Cancels the current export, so that the worker thread ends.
      exporters.forEach(AccountedSpanExporter::shutdown);
    }
  }
}
