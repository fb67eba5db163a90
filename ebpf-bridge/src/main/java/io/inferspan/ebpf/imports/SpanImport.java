package io.inferspan.ebpf.imports;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.inferspan.OperationSpan;
import io.inferspan.PendingSpan;
import io.inferspan.Telemetry;
import io.inferspan.catalog.KernelSpans;
import io.inferspan.ebpf.clock.ClockOffset.Interval;
import io.inferspan.ebpf.imports.LlmRequests.Phase;
import io.inferspan.ebpf.imports.NcclOperation.Rank;
import io.inferspan.ebpf.nccl.CollectiveOrder;
import io.inferspan.ebpf.nccl.CollectiveOrder.Result;
import io.inferspan.ebpf.nccl.Communicator;
import io.inferspan.semconv.BatchAttributes;
import io.inferspan.semconv.KernelAttributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Context;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Converts files of other tools to spans. Nothing is written before all files are read. */
public final class SpanImport {

  /**
   * The number of spans between two flushes: less than the capacity of the export queue, so that
   * the queue is never full.
   */
  private static final int FLUSH_EVERY = 1000;

  private static final double NANOS_PER_MILLI = 1e6;

  private static final Duration FLUSH_TIMEOUT = Duration.ofSeconds(30);

  private final NcclInspector inspector = new NcclInspector();
  private final LlmRequests requests = new LlmRequests();
  private final NcclMaps maps;
  private long written;

  /** Creates an import without files. */
  public SpanImport(NcclMaps maps) {
    this.maps = maps;
  }

  /** Reads a file; a format error states its line and column. */
  public void read(Path file) throws IOException {
    try (BufferedReader text =
        new BufferedReader(new InputStreamReader(Files.newInputStream(file), UTF_8))) {
      JsonText json = new JsonText(text);
      while (json.next() != null) {
        JsonRecord record = json.record();
        if (record.has("resourceSpans")) {
          requests.read(record);
        } else {
          inspector.read(record);
        }
      }
      inspector.endOfDump();
    }
  }

  /**
   * Writes the spans. Those of NCCL become children of the span in {@code parent}, or root spans if
   * there is none.
   */
  public void write(Telemetry telemetry, Context parent) throws IOException {
    Map<String, List<NcclOperation>> communicators = new TreeMap<>();
    for (NcclOperation operation : inspector.operations()) {
      communicators
          .computeIfAbsent(operation.rank().communicator(), id -> new ArrayList<>())
          .add(operation);
    }
    for (List<NcclOperation> operations : communicators.values()) {
      write(operations, telemetry, parent);
    }
    for (List<Phase> phases : requests.withoutChildren()) {
      for (Phase phase : phases) {
        telemetry
            .span(phase.type(), Context.root().with(Span.wrap(phase.parent())))
            .set(BatchAttributes.SYNTHESISED, true)
            .set(BatchAttributes.START_ERROR_MS, phase.startErrorNanos() / NANOS_PER_MILLI)
            .startingAt(phase.beginNanos())
            .start()
            .closeAt(phase.endNanos());
        wrote(telemetry);
      }
    }
    flush(telemetry);
  }

  private void write(List<NcclOperation> operations, Telemetry telemetry, Context parent)
      throws IOException {
    HostClocks clocks = new HostClocks(operations);
    Rank rank = operations.getFirst().rank();
    String communicator = rank.communicator();
    long violations = orderViolations(operations);
    OperationSpan all =
        maps.describe(telemetry.span(KernelSpans.NCCL, "communicator", parent))
            .set(KernelAttributes.COMMUNICATOR, communicator)
            .set(KernelAttributes.RANKS, rank.ranks())
            .set(KernelAttributes.COUNT, operations.size())
            .set(KernelAttributes.DROPPED, inspector.lost().get(communicator))
            .set(KernelAttributes.ORDER_VIOLATIONS, violations > 0 ? violations : null)
            .set(
                KernelAttributes.CLOCK_VIOLATIONS,
                clocks.violations() > 0 ? clocks.violations() : null)
            .startingAt(
                operations.stream()
                    .mapToLong(one -> one.beginNanos() - offset(clocks.of(one)))
                    .min()
                    .orElseThrow())
            .start();
    for (NcclOperation operation : operations) {
      PendingSpan span = telemetry.span(KernelSpans.NCCL, operation.call(), all);
      Interval clock = clocks.of(operation);
      if (clock != null) {
        span.set(KernelAttributes.CLOCK_OFFSET_MS, clock.offsetNanos() / NANOS_PER_MILLI)
            .set(KernelAttributes.CLOCK_ERROR_MS, clock.errorNanos() / NANOS_PER_MILLI);
      }
      maps.describe(operation, describe(operation, span))
          .startingAt(operation.beginNanos() - offset(clock))
          .start()
          .closeAt(operation.endNanos() - offset(clock));
      wrote(telemetry);
    }
    all.closeAt(
        operations.stream()
            .mapToLong(one -> one.endNanos() - offset(clocks.of(one)))
            .max()
            .orElseThrow());
    wrote(telemetry);
  }

  /**
   * Counts the collectives that differ between ranks. Each kind of collective has sequence numbers
   * of its own, so each kind is compared as if it had a communicator of its own.
   */
  private static long orderViolations(List<NcclOperation> operations) {
    CollectiveOrder order = new CollectiveOrder();
    return operations.stream()
        .filter(one -> one.peer() == null)
        .sorted(Comparator.comparingLong(NcclOperation::sequence))
        .map(one -> order.add(communicator(one), one.sequence(), one.bytes()))
        .filter(Result.DIFFERENT::equals)
        .count();
  }

  private static Communicator communicator(NcclOperation one) {
    int ranks = (int) Math.max(2, one.rank().ranks()); // The number may be unknown.
    return new Communicator(one.call(), (int) one.rank().number(), ranks);
  }

  private static long offset(@Nullable Interval clock) {
    return clock == null ? 0 : clock.offsetNanos();
  }

  private static PendingSpan describe(NcclOperation operation, PendingSpan span) {
    Rank rank = operation.rank();
    return span.set(KernelAttributes.COMMUNICATOR, rank.communicator())
        .set(KernelAttributes.RANK, rank.number())
        .set(KernelAttributes.HOST, rank.host())
        .set(KernelAttributes.PROCESS_ID, rank.pid())
        .set(KernelAttributes.SEQUENCE, operation.sequence())
        .set(KernelAttributes.PEER, operation.peer())
        .set(KernelAttributes.BYTES, operation.bytes())
        .set(KernelAttributes.ALGORITHM, operation.algorithm())
        .set(KernelAttributes.BUS_BANDWIDTH, operation.busBandwidth())
        .set(KernelAttributes.TIMING_SOURCE, operation.timingSource())
        .set(BatchAttributes.SYNTHESISED, operation.traced() ? null : true);
  }

  private void wrote(Telemetry telemetry) throws IOException {
    written++;
    if (written % FLUSH_EVERY == 0) {
      flush(telemetry);
    }
  }

  private void flush(Telemetry telemetry) throws IOException {
    boolean flushed = telemetry.flush(FLUSH_TIMEOUT);
    long lost = telemetry.spanCounts().dropped().total();
    if (!flushed || lost > 0) {
      String reason =
          lost > 0
              ? "%d of the first %d were dropped".formatted(lost, written)
              : "the endpoint did not accept them within " + FLUSH_TIMEOUT.toSeconds() + " s";
      throw new IOException("not all spans were sent: " + reason);
    }
  }

  /** Returns a line for each kind of record: how many were read, lost or left out. */
  public List<String> report() {
    long lost = inspector.lost().values().stream().mapToLong(Long::longValue).sum();
    List<String> report = new ArrayList<>();
    line(report, inspector.operations().size(), "NCCL operations");
    line(report, lost, "records that NCCL's inspector dropped");
    line(report, inspector.proxyRecords(), "records of proxy threads, left out");
    List<List<Phase>> withoutChildren = requests.withoutChildren();
    long unknown = withoutChildren.stream().filter(List::isEmpty).count();
    line(report, withoutChildren.size() - unknown, "requests of vLLM");
    line(report, requests.withChildren(), "requests that already have child spans, left out");
    line(report, unknown, "requests with missing or inconsistent times, left out");
    return report;
  }

  private static void line(List<String> report, long count, String what) {
    if (count > 0) {
      report.add(count + " " + what);
    }
  }
}
