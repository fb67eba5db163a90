package io.inferspan.exporter;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.ChildJvm;
import io.inferspan.DeadCollectorLoad;
import io.inferspan.OperationSpan;
import io.inferspan.Telemetry;
import io.inferspan.TestOptions;
import io.inferspan.catalog.GatewaySpans;
import io.inferspan.export.SpanCounts;
import io.inferspan.testing.otlp.OtlpReceiver;
import io.inferspan.testing.otlp.OtlpReceiver.Behaviour;
import io.opentelemetry.context.Context;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A hundred thousand requests without a working collector: all dropped spans are counted. */
class DeadCollectorTest {

  private static final long REQUESTS = 100_000;
  // Two spans per request, and a third in every second request.
  private static final long SPANS = REQUESTS * 5 / 2;
  private static final long HEAP_SLACK_BYTES = 5 << 20;

  @Test
  void absentCollector_causesOnlyCountedDrops() {
    // The port of tcpmux, on which no server listens.
    assertCounted(load("http://localhost:1"));
  }

  @Test
  void silentCollector_causesOnlyCountedDrops() {
    try (OtlpReceiver silent = OtlpReceiver.builder().behaviour(Behaviour.NEVER_ANSWER).start()) {
      ChildJvm.Outcome outcome = load(silent.endpoint());

      assertCounted(outcome);
      assertThat(silent.requestCount()).isPositive();
      assertThat(number(outcome, "exported")).isZero();
    }
  }

  @Test
  void unavailableCollector_causesOnlyCountedDrops() {
    try (OtlpReceiver rejecting = OtlpReceiver.builder().behaviour(Behaviour.REJECT).start()) {
      ChildJvm.Outcome outcome = load(rejecting.endpoint());

      assertCounted(outcome);
      assertThat(rejecting.requestCount()).isPositive();
    }
  }

  @Test
  void refusingCollector_causesOnlyCountedDrops() {
    try (OtlpReceiver refusing = OtlpReceiver.builder().behaviour(Behaviour.REFUSE).start()) {
      ChildJvm.Outcome outcome = load(refusing.endpoint());

      assertCounted(outcome);
      assertThat(number(outcome, "exportFailed")).isPositive();
    }
  }

  private static ChildJvm.Outcome load(String endpoint) {
    return ChildJvm.running(DeadCollectorLoad.class)
        .flag("-Xmx256m")
        .flag("-XX:+UseSerialGC")
        .run(endpoint, Long.toString(REQUESTS));
  }

  private static void assertCounted(ChildJvm.Outcome outcome) {
    assertThat(outcome.exit()).describedAs("%s", outcome).isZero();
    assertThat(number(outcome, "started")).isEqualTo(SPANS);
    assertThat(number(outcome, "ended")).isEqualTo(SPANS);
    assertThat(number(outcome, "exported")).isZero();
    assertThat(number(outcome, "dropped")).isEqualTo(SPANS);
    assertThat(number(outcome, "queueFull")).isPositive();
    assertThat(number(outcome, "neverEnded")).isZero();
    for (String reason : List.of("queueFull", "exportFailed", "shutdown")) {
      assertThat(number(outcome, reason)).describedAs(reason).isNotNegative();
    }
    assertThat(number(outcome, "heapGrowth")).isLessThan(HEAP_SLACK_BYTES);
    assertThat(number(outcome, "heapGrowthClosed")).isLessThan(HEAP_SLACK_BYTES);
  }

  private static long number(ChildJvm.Outcome outcome, String name) {
    return Long.parseLong(outcome.value(name));
  }

  @Test
  void workingCollector_receivesEverySpan() {
    int requests = 10_000;
    try (OtlpReceiver receiver = OtlpReceiver.start()) {
      Telemetry telemetry =
          Telemetry.initTracing(
              TestOptions.exportingTo(receiver)
                  .setting("otel.bsp.max.queue.size", "65536")
                  .closeTimeout(Duration.ofSeconds(30))
                  .build());
      serve(telemetry, requests);
      telemetry.close();

      SpanCounts counts = telemetry.spanCounts();
      assertThat(counts.started()).isEqualTo(2L * requests);
      assertThat(counts.exported()).isEqualTo(2L * requests);
      assertThat(counts.dropped().total()).isZero();
      assertThat(receiver.spans()).hasSize(2 * requests);
    }
  }

  @Test
  void recoveredCollector_receivesLaterSpans() {
    try (OtlpReceiver receiver = OtlpReceiver.builder().behaviour(Behaviour.REFUSE).start()) {
      Telemetry telemetry = Telemetry.initTracing(TestOptions.exportingTo(receiver).build());
      serve(telemetry, 10);
      telemetry.flush(Duration.ofSeconds(20));
      receiver.behave(Behaviour.ACCEPT);
      serve(telemetry, 10);
      telemetry.close();

      assertThat(telemetry.spanCounts().exported()).isEqualTo(20);
      assertThat(telemetry.spanCounts().dropped().exportFailed()).isEqualTo(20);
      assertThat(receiver.spans()).hasSize(20);
    }
  }

  @Test
  void spansEndedAfterAFlush_areExportedByClose() {
    try (OtlpReceiver receiver = OtlpReceiver.start()) {
      for (int i = 0; i < 200; i++) {
        Telemetry telemetry = Telemetry.initTracing(TestOptions.exportingTo(receiver).build());
        serve(telemetry, 1);
        telemetry.flush(Duration.ofSeconds(20));
        serve(telemetry, 1);
        telemetry.close();

        assertThat(telemetry.spanCounts().exported()).isEqualTo(4);
      }
    }
  }

  @Test
  void countsBalance_whileManyThreadsTraceAndOneCloses() throws Exception {
    try (OtlpReceiver receiver = OtlpReceiver.start()) {
      Telemetry telemetry =
          Telemetry.initTracing(
              TestOptions.exportingTo(receiver)
                  .setting("otel.bsp.max.queue.size", "256")
                  .setting("otel.bsp.max.export.batch.size", "64")
                  .build());
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        Thread thread = new Thread(() -> serve(telemetry, 5_000), "load-" + i);
        threads.add(thread);
        thread.start();
      }
      receiver.awaitRequests(1, Duration.ofSeconds(20));
      telemetry.close();
      for (Thread thread : threads) {
        thread.join(20_000);
      }

      SpanCounts counts = telemetry.spanCounts();
      assertThat(counts.started()).isPositive().isLessThanOrEqualTo(40_000);
      assertThat(counts.ended()).isEqualTo(counts.started());
      assertThat(counts.exported() + counts.dropped().total()).isEqualTo(counts.started());
      assertThat(counts.dropped().shutdown()).isNotNegative();
      assertThat((long) receiver.spans().size()).isGreaterThanOrEqualTo(counts.exported());
    }
  }

  private static void serve(Telemetry telemetry, int requests) {
    for (int i = 0; i < requests; i++) {
      try (OperationSpan request = telemetry.span(GatewaySpans.REQUEST, Context.root()).start()) {
        telemetry.span(GatewaySpans.ORCHESTRATION, request).start().close();
      }
    }
  }
}
