package io.inferspan.samples.benchmarks;

import io.inferspan.OperationSpan;
import io.inferspan.Telemetry;
import io.inferspan.TelemetryOptions;
import io.inferspan.catalog.GatewaySpans;
import io.inferspan.propagation.HeaderMap;
import io.opentelemetry.api.baggage.propagation.W3CBaggagePropagator;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapPropagator;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Measures reading and writing trace headers in a map, with Inferspan and with OpenTelemetry's
 * propagators.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Thread)
@Fork(2)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class PropagationBenchmark {

  private static final TextMapPropagator RAW =
      TextMapPropagator.composite(
          W3CTraceContextPropagator.getInstance(), W3CBaggagePropagator.getInstance());

  private final Map<String, String> incoming =
      Map.of("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
  private final Map<String, String> outgoing = new HashMap<>();
  private final Telemetry telemetry =
      Telemetry.initTracing(
          TelemetryOptions.builder()
              .setting("otel.traces.exporter", DiscardingExporterProvider.NAME)
              .build());
  private OperationSpan span = telemetry.span(GatewaySpans.REQUEST, Context.root()).start();

  @Setup(Level.Trial)
  public void start() {
    Context parent = telemetry.extract(incoming, HeaderMap.HEADERS);
    span = telemetry.span(GatewaySpans.REQUEST, parent).start();
  }

  @TearDown(Level.Trial)
  public void stop() {
    span.close();
    telemetry.close();
  }

  @Benchmark
  public Context extractInferspan() {
    return telemetry.extract(incoming, HeaderMap.HEADERS);
  }

  @Benchmark
  public Context extractRaw() {
    return RAW.extract(Context.root(), incoming, HeaderMap.HEADERS);
  }

  /** Writes the header of a recorded span. The span caches it after the first call. */
  @Benchmark
  public Object injectInferspan() {
    telemetry.inject(span, outgoing, HeaderMap.HEADERS);
    return outgoing;
  }

  /** Writes the header of the span's context, which is formatted in each call. */
  @Benchmark
  public Object injectInferspanContext() {
    telemetry.inject(span.context(), outgoing, HeaderMap.HEADERS);
    return outgoing;
  }

  @Benchmark
  public Object injectRaw() {
    RAW.inject(span.context(), outgoing, HeaderMap.HEADERS);
    return outgoing;
  }
}
