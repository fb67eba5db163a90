package io.inferspan.exporter;

import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.util.Collection;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * An exporter that rejects batches after the {@link ExportAccounting} is closed. One of the
 * configured exporters also reports the result of each batch to the accounting.
 */
public final class AccountedSpanExporter implements SpanExporter {

  private final SpanExporter delegate;
  private final ExportAccounting accounting;
  private final AtomicReference<@Nullable Batch> current = new AtomicReference<>();
  private final AtomicBoolean shutDown = new AtomicBoolean();
  private volatile boolean reportsResults;

  /** Creates an exporter in front of {@code delegate}. */
  public AccountedSpanExporter(SpanExporter delegate, ExportAccounting accounting) {
    this.delegate = delegate;
    this.accounting = accounting;
  }

  /** Makes this the exporter that reports the result of each batch. */
  public void reportResults() {
    reportsResults = true;
  }

  @Override
  public CompletableResultCode export(Collection<SpanData> spans) {
    if (accounting.isClosed()) {
      return CompletableResultCode.ofFailure();
    }
    Batch batch = new Batch(spans.size());
    Batch previous = current.getAndSet(batch);
    if (previous != null) {
      // If it is unfinished, the batch processor has stopped waiting for it.
      previous.finish(false);
    }
    try {
      CompletableResultCode result = delegate.export(spans);
      result.whenComplete(() -> batch.finish(result.isSuccess()));
      return result;
    } catch (RuntimeException e) {
      batch.finish(false);
      throw e;
    } catch (Error e) {
      batch.finish(false);
      // An error would end the batch processor's thread, and with it all future exports.
      throw new IllegalStateException("The exporter failed", e);
    }
  }

  /** A batch that is being exported. */
  private final class Batch {
    private final int spans;
    private final long startNanos = System.nanoTime();
    private final AtomicBoolean finished = new AtomicBoolean();

    Batch(int spans) {
      this.spans = spans;
    }

    void finish(boolean success) {
      if (finished.compareAndSet(false, true) && reportsResults) {
        accounting.batchEnded(spans, success, System.nanoTime() - startNanos);
      }
    }
  }

  @Override
  public CompletableResultCode flush() {
    return delegate.flush();
  }

  @Override
  public CompletableResultCode shutdown() {
    return shutDown.compareAndSet(false, true)
        ? delegate.shutdown()
        : CompletableResultCode.ofSuccess();
  }

  @Override
  public String toString() {
    return delegate.toString();
  }
}
