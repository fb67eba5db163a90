package io.inferspan.exporter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.inferspan.export.SpanCounts;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The accounting with misbehaving exporters. */
class AccountedSpanExporterTest {

  private static final List<SpanData> TWO =
      List.of(OtlpJsonTest.span().build(), OtlpJsonTest.span().build());

  private final ExportAccounting books = new ExportAccounting(2);
  private final Scripted scripted = new Scripted();
  private final AccountedSpanExporter exporter = new AccountedSpanExporter(scripted, books);

  @Test
  void unfinishedBatch_countsAsFailedWhenTheNextBegins() {
    exporter.reportResults();
    CompletableResultCode never = new CompletableResultCode();
    scripted.results.add(never);
    scripted.results.add(CompletableResultCode.ofSuccess());
    fillQueue();
    exporter.export(TWO);
    assertThat(books.admit()).describedAs("while it is under way").isFalse();

    exporter.export(TWO);
    fillQueue();
    never.succeed();

    SpanCounts counts = books.counts();
    assertThat(counts.dropped().exportFailed()).isEqualTo(2);
    assertThat(counts.dropped().queueFull()).isEqualTo(1);
    assertThat(counts.exported()).isEqualTo(2);
    assertThat(books.failedExports()).isOne();
  }

  @Test
  void throwingExporter_countsAsFailedOnce() {
    exporter.reportResults();
    fillQueue();
    assertThatThrownBy(() -> exporter.export(TWO)).isInstanceOf(RuntimeException.class);
    scripted.results.add(CompletableResultCode.ofSuccess());
    fillQueue();
    exporter.export(TWO);

    assertThat(books.counts().dropped().exportFailed()).isEqualTo(2);
    assertThat(books.counts().exported()).isEqualTo(2);
    assertThat(books.queued()).isZero();
  }

  @Test
  void linkageErrorOfAnExporter_doesNotEndTheExportingThread() {
    AtomicInteger asked = new AtomicInteger();
    SpanExporter unlinked =
        new Scripted() {
          @Override
          public CompletableResultCode export(Collection<SpanData> spans) {
            if (asked.getAndIncrement() == 0) {
              throw new NoClassDefFoundError("a class of the sender's");
            }
            return CompletableResultCode.ofSuccess();
          }
        };
    try (BatchSpanProcessor processor =
            BatchSpanProcessor.builder(new AccountedSpanExporter(unlinked, books)).build();
        SdkTracerProvider provider =
            SdkTracerProvider.builder().addSpanProcessor(processor).build()) {
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
      while (asked.get() < 2 && System.nanoTime() < deadline) {
        provider.get("test").spanBuilder("asked").startSpan().end();
        // A flush directly after another may get the other's result, and flush nothing.
        processor.forceFlush().join(1, TimeUnit.SECONDS);
      }

      assertThat(asked.get()).isGreaterThanOrEqualTo(2);
    }
  }

  @Test
  void exporterThatDoesNotReportResults_countsNothing() {
    scripted.results.add(CompletableResultCode.ofSuccess());
    exporter.export(TWO);

    assertThat(books.exports()).isZero();
    assertThat(books.counts().exported()).isZero();
  }

  private void fillQueue() {
    assertThat(books.admit()).isTrue();
    assertThat(books.admit()).isTrue();
  }

  /** Returns the results that the test sets; throws if there are none left. */
  private static class Scripted implements SpanExporter {
    private final Queue<CompletableResultCode> results = new ArrayDeque<>();

    @Override
    public CompletableResultCode export(Collection<SpanData> spans) {
      return results.remove();
    }

    @Override
    public CompletableResultCode flush() {
      return CompletableResultCode.ofSuccess();
    }

    @Override
    public CompletableResultCode shutdown() {
      return CompletableResultCode.ofSuccess();
    }
  }
}
