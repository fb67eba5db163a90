package io.inferspan.setup;

import io.inferspan.export.AccountedSpanExporter;
import io.inferspan.export.ExportAccounting;
import io.inferspan.recording.SpanPipeline;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.common.CompletableResultCode;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * An SDK that we built, and what belongs to it.
 *
 * @param sdk the SDK
 * @param accounting its books
 * @param exporters what sends the spans
 * @param pipeline what it gives to all spans, or null where a plugin may have changed it unseen
 * @param disabled whether the user has switched it off, so that it only propagates
 */
public record InstalledSdk(
    OpenTelemetrySdk sdk,
    ExportAccounting accounting,
    List<AccountedSpanExporter> exporters,
    @Nullable SpanPipeline pipeline,
    boolean disabled) {

  /** Sends what it can within {@code bound}, gives up the rest, and closes the books. */
  public void close(Duration bound) {
    CompletableResultCode done = sdk.shutdown().join(bound.toNanos(), TimeUnit.NANOSECONDS);
    accounting.close();
    if (!done.isDone()) {
      // Cancels the call under way, so that the worker sees the closed books and ends.
      exporters.forEach(AccountedSpanExporter::shutdown);
    }
  }
}
