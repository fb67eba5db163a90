package io.inferspan;

import io.inferspan.catalog.EppSpans;
import io.inferspan.catalog.GatewaySpans;
import io.inferspan.export.SpanCounts;
import io.inferspan.semconv.GenAiAttributes;
import io.opentelemetry.context.Context;
import java.lang.management.ManagementFactory;
import java.time.Duration;

/**
 * A gateway under load without a working collector: the main class of a {@code ChildJvm}, because
 * the heap of the process is measured.
 *
 * <p>Arguments: the endpoint and the number of requests.
 */
public final class DeadCollectorLoad {

  private static final int WARM_UP = 10_000;
  private static final String HOUR_MILLIS = "3600000";

  private DeadCollectorLoad() {}

  /** Serves the requests, and prints the counts and the growth of the heap in bytes. */
  public static void main(String[] arguments) {
    int requests = Integer.parseInt(arguments[1]);
    Telemetry telemetry =
        Telemetry.initTracing(
            TelemetryOptions.builder()
                .closeTimeout(Duration.ofSeconds(2))
                .setting("otel.traces.sampler", "always_on")
                .setting("otel.exporter.otlp.endpoint", arguments[0])
                // If closing waited for an export, this process would not end in time.
                .setting("otel.exporter.otlp.timeout", HOUR_MILLIS)
                .setting("otel.bsp.export.timeout", HOUR_MILLIS)
                .build());
    serve(telemetry, WARM_UP);
    long before = usedBytes();
    serve(telemetry, requests - WARM_UP);
    long after = usedBytes();
    telemetry.close();
    print("heapGrowth", after - before);
    print("heapGrowthClosed", usedBytes() - before);
    print(telemetry.spanCounts());
  }

  private static void serve(Telemetry telemetry, int requests) {
    for (int i = 0; i < requests; i++) {
      try (OperationSpan request = telemetry.span(GatewaySpans.REQUEST, Context.root()).start()) {
        request.set(GenAiAttributes.REQUEST_MODEL, "model-" + i);
        telemetry.span(GatewaySpans.ORCHESTRATION, request).start().close();
        if (i % 2 == 0) {
          OperationSpan scorer = telemetry.span(EppSpans.SCORING, request).start();
          scorer.fail(new IllegalStateException("no endpoints"));
          scorer.close();
        }
      }
    }
  }

  /** Returns the lowest of several readings, because the exporter allocates concurrently. */
  private static long usedBytes() {
    long least = Long.MAX_VALUE;
    for (int i = 0; i < 4; i++) {
      System.gc();
      least = Math.min(least, ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
    }
    return least;
  }

  private static void print(SpanCounts counts) {
    print("started", counts.started());
    print("ended", counts.ended());
    print("exported", counts.exported());
    print("queueFull", counts.dropped().queueFull());
    print("exportFailed", counts.dropped().exportFailed());
    print("shutdown", counts.dropped().shutdown());
    print("neverEnded", counts.dropped().neverEnded());
    print("dropped", counts.dropped().total());
  }

  private static void print(String name, long value) {
    System.out.println(name + "=" + value);
  }
}
