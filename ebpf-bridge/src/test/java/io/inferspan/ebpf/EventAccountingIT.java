package io.inferspan.ebpf;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.Telemetry;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Under load, every lost event is counted, and times are exact. */
class EventAccountingIT {

  private static final String TRACEPARENT =
      "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

  private static final int CALLS = 200;
  private static final long MAX_ERROR_NANOS = 50_000;

  /**
   * If more calls than this were interrupted between two clock readings, the test proves little.
   */
  private static final int MAX_STOPPED = CALLS / 4;

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  /** The duration of the flood; {@code -Debpf.flood.seconds=60} sets another one. */
  private final int seconds = Integer.getInteger("ebpf.flood.seconds", 10);

  @Test
  void flood_everyEventIsAccountedFor() {
    String load = TestKit.directory().resolve("load").toString();
    EbpfBridge bridge =
        EbpfBridge.attach(
            Telemetry.using(tracing.openTelemetry()),
            BridgeConfig.builder().ownThreads(false).ringBytes(1 << 20).build());
    try (JavaChild keeper = JavaChild.start(List.of(load, "120", "1", "", "10"), Map.of())) {
      TestKit.awaitLibrary(bridge, "load");
      long start = System.nanoTime();
      try (JavaChild flood =
          JavaChild.start(
              List.of(load, Integer.toString(seconds), "2", TRACEPARENT, "0", "read"), Map.of())) {
        System.out.println("flood: " + flood.line());
      }
      double took = (System.nanoTime() - start) / 1e9;
      bridge.close();
      assertAccountedFor(bridge.status(), took);
    }
  }

  private static void assertAccountedFor(BridgeStatus status, double took) {
    long produced = status.events().stream().mapToLong(BridgeStatus.Events::produced).sum();
    long read = status.events().stream().mapToLong(BridgeStatus.Events::read).sum();
    long full = status.losses().getOrDefault("kernel.ring_full", 0L);
    long lostHere =
        status.losses().entrySet().stream()
            .filter(loss -> !loss.getKey().startsWith("kernel."))
            .mapToLong(Map.Entry::getValue)
            .sum();
    BridgeStatus.Spans spans = status.flow().spans();
    System.out.printf(
        "flood: %d events in %.1f s, %.0f a second produced, %.0f read; %d emitted, %d folded into"
            + " %d, %d control, %d dropped by a full ring%n",
        produced,
        took,
        produced / took,
        read / took,
        spans.emitted(),
        spans.folded(),
        spans.folds(),
        spans.control(),
        full);
    assertThat(produced).isGreaterThan(100_000);
    assertThat(read + full).isEqualTo(produced);
    assertThat(spans.emitted() + spans.folded() + spans.control() + lostHere).isEqualTo(read);
    assertThat(spans.held()).isZero();
  }

  /**
   * Takes the best of three rounds: a hypervisor that preempts the processor leaves no record of
   * it.
   */
  @Test
  void durations_areExactToFiftyMicroseconds() throws Exception {
    Round round = round();
    for (int again = 1; again < 3 && !round.holds(); again++) {
      tracing.clear();
      round = round();
    }
    assertThat(round.stopped()).isLessThanOrEqualTo(MAX_STOPPED);
    assertThat(round.errorNanos(50)).isLessThanOrEqualTo(MAX_ERROR_NANOS);
    assertThat(round.errorNanos(99)).isLessThanOrEqualTo(MAX_ERROR_NANOS);
  }

  /** Calls that were not interrupted, the least exact last, and the number of interrupted ones. */
  private record Round(List<TimedCall> ran, int stopped) {

    boolean holds() {
      return stopped <= MAX_STOPPED
          && errorNanos(50) <= MAX_ERROR_NANOS
          && errorNanos(99) <= MAX_ERROR_NANOS;
    }

    long errorNanos(int percent) {
      return ran.get(ran.size() * percent / 100).errorNanos();
    }

    void print() {
      TimedCall worst = ran.getLast();
      System.out.printf(
          "5 ms calls: %d, and %d stopped between two clocks; error of start and duration p50 %d"
              + " ns, p99 %d ns, most %d ns: %d ns before the call, %d ns after it%n",
          ran.size(),
          stopped,
          errorNanos(50),
          errorNanos(99),
          worst.errorNanos(),
          worst.nanosBefore(),
          worst.nanosAfter());
    }
  }

  private Round round() throws Exception {
    long offset = TestKit.epochOffsetNanos();
    // Each event gets its own span, so that every off-CPU period names its thread.
    EbpfBridge bridge =
        EbpfBridge.attach(
            Telemetry.using(tracing.openTelemetry()),
            TestKit.children().singleFrom(Duration.ZERO).build());
    try (PythonServer server =
        PythonServer.start(Map.of("FAKE_CUDA_SCRIPT", "cuMemAlloc_v2=5ms"))) {
      TestKit.awaitLibrary(bridge, "libcuda.so.1");
      Requests.send(server, CALLS);
      bridge.close();
      Round round = round(server.calls(), offset);
      round.print();
      return round;
    }
  }

  /** There is one client, so the kernel and the library recorded the calls in the same order. */
  private Round round(List<PythonServer.Call> all, long offset) {
    List<PythonServer.Call> calls =
        all.stream()
            .filter(call -> call.function().equals("cuMemAlloc_v2"))
            .sorted(Comparator.comparingLong(PythonServer.Call::entryNanos))
            .toList();
    List<SpanRecord> spans =
        tracing.spans().stream()
            .filter(span -> span.name().equals("cuda.alloc"))
            .sorted(Comparator.comparingLong(SpanRecord::startEpochNanos))
            .toList();
    assertThat(calls).hasSize(CALLS);
    assertThat(spans).hasSize(CALLS);
    List<SpanRecord> away =
        tracing.spans().stream().filter(span -> span.name().startsWith("sched.")).toList();
    List<TimedCall> ran =
        IntStream.range(0, CALLS)
            .mapToObj(nth -> TimedCall.of(spans.get(nth), calls.get(nth), offset))
            .filter(call -> !call.isStopped(away))
            .sorted(Comparator.comparingLong(TimedCall::errorNanos))
            .toList();
    assertThat(ran).isNotEmpty();
    return new Round(ran, CALLS - ran.size());
  }

  /**
   * A call as the kernel measured it, and its entry and exit as the library itself recorded them.
   */
  private record TimedCall(SpanRecord span, long tid, long entryNanos, long exitNanos) {

    static TimedCall of(SpanRecord span, PythonServer.Call call, long offset) {
      assertThat(span.duration()).isGreaterThanOrEqualTo(Duration.ofMillis(5));
      return new TimedCall(span, call.tid(), call.entryNanos() + offset, call.exitNanos() + offset);
    }

    /**
     * Returns whether its thread was off the CPU between the kernel's clock reading and the
     * library's.
     */
    boolean isStopped(List<SpanRecord> away) {
      return away.stream()
          .filter(one -> Objects.equals(one.attribute("thread.id"), tid))
          .anyMatch(
              one ->
                  overlaps(one, span.startEpochNanos(), entryNanos)
                      || overlaps(one, exitNanos, span.endEpochNanos()));
    }

    private static boolean overlaps(SpanRecord one, long from, long to) {
      return one.startEpochNanos() < to && one.endEpochNanos() > from;
    }

    long errorNanos() {
      long duration = span.duration().toNanos() - (exitNanos - entryNanos);
      return Math.max(Math.abs(nanosBefore()), Math.abs(duration));
    }

    long nanosBefore() {
      return entryNanos - span.startEpochNanos();
    }

    long nanosAfter() {
      return span.endEpochNanos() - exitNanos;
    }
  }
}
