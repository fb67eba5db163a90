package io.inferspan.samples.benchmarks;

import io.inferspan.OperationSpan;
import io.inferspan.Telemetry;
import io.inferspan.TelemetryOptions;
import io.inferspan.propagation.HeaderMap;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Measures time and allocated bytes of the eight spans of one request, with Inferspan, the
 * OpenTelemetry API and Micrometer.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Thread)
@Fork(2)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class RequestSpansBenchmark {

  /** The sampling decision, or {@code off} for the disabled SDK. */
  @Param({"unsampled", "sampled", "off"})
  public String trace = "unsampled";

  private final RequestFacts facts = RequestFacts.example();
  private Telemetry telemetry = Telemetry.using(OpenTelemetry.noop());
  private InferspanRequest inferspan = new InferspanRequest(telemetry);
  private Peers peers = Peers.off();
  private Context parent = Context.root();
  private Context rawParent = Context.root();

  @Setup(Level.Trial)
  public void start() {
    boolean off = trace.equals("off");
    telemetry =
        Telemetry.initTracing(
            TelemetryOptions.builder()
                .setting("otel.traces.exporter", DiscardingExporterProvider.NAME)
                .setting("otel.sdk.disabled", Boolean.toString(off))
                .build());
    inferspan = new InferspanRequest(telemetry);
    peers = off ? Peers.off() : Peers.batching();
    Map<String, String> headers = headers();
    parent = telemetry.extract(headers, HeaderMap.HEADERS);
    rawParent =
        W3CTraceContextPropagator.getInstance().extract(Context.root(), headers, HeaderMap.HEADERS);
  }

  @TearDown(Level.Trial)
  public void stop() {
    telemetry.close();
    peers.close();
  }

  private Map<String, String> headers() {
    if (trace.equals("off")) {
      return Map.of();
    }
    String flags = trace.equals("sampled") ? "01" : "00";
    return Map.of("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-" + flags);
  }

  @Benchmark
  public OperationSpan inferspan() {
    return inferspan.run(parent, facts);
  }

  @Benchmark
  public Context raw() {
    return peers.raw().run(rawParent, facts);
  }

  @Benchmark
  public Object micrometerTracing() {
    return peers.micrometer().run(rawParent, facts);
  }
}
