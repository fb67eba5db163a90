package io.inferspan.gpucheck;

import io.inferspan.Telemetry;
import io.inferspan.ebpf.BridgeConfig;
import io.inferspan.ebpf.BridgeStatus;
import io.inferspan.ebpf.EbpfBridge;
import io.inferspan.ebpf.EbpfSupport;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.io.IOException;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeUnit;

/** A running bridge with all its probes, and the calls that it exports, by trace. */
final class Watching implements AutoCloseable {

  private static final AttributeKey<Long> COUNT = AttributeKey.longKey("inferspan.ebpf.count");
  private static final AttributeKey<Long> SUM = AttributeKey.longKey("inferspan.ebpf.duration.sum_ns");
  private static final int MOST_TRACES = 4096;

  /** Calls of one kind, and the time in them. */
  record Calls(long count, long nanos) {

    static final Calls NONE = new Calls(0, 0);

    Calls plus(Calls more) {
      return new Calls(count + more.count, nanos + more.nanos);
    }

    /** Sums the calls whose kinds match. */
    static Calls of(Map<String, Calls> seen, String kinds) {
      return seen.entrySet().stream()
          .filter(entry -> entry.getKey().matches(kinds))
          .map(Map.Entry::getValue)
          .reduce(NONE, Calls::plus);
    }

    /** Returns the mean duration of a call in nanoseconds. */
    double mean() {
      return (double) nanos / Math.max(1, count);
    }
  }

  private final Map<String, Map<String, Calls>> byTrace = new ConcurrentHashMap<>();
  private final OpenTelemetrySdk sdk;
  private final EbpfBridge bridge;

  private Watching() {
    BatchSpanProcessor processor =
        BatchSpanProcessor.builder(new Totals()).setScheduleDelay(Duration.ofMillis(100)).setMaxQueueSize(1 << 16).build();
    sdk = OpenTelemetrySdk.builder().setTracerProvider(SdkTracerProvider.builder().addSpanProcessor(processor).build()).build();
    BridgeConfig config = BridgeConfig.builder().ownThreads(false).sleepAfter(Duration.ZERO).build();
    bridge = EbpfBridge.attach(Telemetry.using(sdk), config);
  }

  /** Makes a few calls for a request. */
  @FunctionalInterface
  interface Trial {
    void run(String traceparent) throws IOException;
  }

  /** Attaches the bridge; returns when functions of these mapped files are probed and a trial call was reported. */
  static Watching begin(Trial trial, String... files) throws IOException, InterruptedException {
    Watching watching = begin(files);
    try {
      watching.awaitCallsOf(trial);
      return watching;
    } catch (IOException | InterruptedException | RuntimeException failed) {
      watching.close();
      throw failed;
    }
  }

  /** Attaches the bridge; returns when functions of these files are probed. */
  static Watching begin(String... files) throws IOException, InterruptedException {
    Watching watching = new Watching();
    try {
      if (watching.bridge.support() instanceof EbpfSupport.Unavailable none) {
        throw new GpuCheck.Absent("BPF: " + none.reason());
      }
      for (String file : files) {
        watching.awaitFunctionsOf(file);
      }
      return watching;
    } catch (IOException | InterruptedException | RuntimeException failed) {
      watching.close();
      throw failed;
    }
  }

  /** Waits until a trial call is reported, because a library is listed shortly before its probes are attached. */
  void awaitCallsOf(Trial trial) throws IOException, InterruptedException {
    for (int i = 0; i < 10; i++) {
      String traceparent = DriverSteps.traceparent();
      trial.run(traceparent);
      if (Calls.of(of(traceparent), "cuda\\..*").count() > 0) {
        return;
      }
    }
    throw new IOException("the bridge reports no call of a sampled request");
  }

  /** Waits until functions of a library are probed, and returns the bridge's report; fails after ten seconds. */
  String awaitFunctionsOf(String file) throws IOException, InterruptedException {
    String last = "not looked into";
    for (int i = 0; i < 500; i++) {
      for (BridgeStatus.Library library : bridge.status().libraries()) {
        last = library.outcome().startsWith(file) ? library.outcome() : last;
      }
      if (last.endsWith(" functions")) {
        return last;
      }
      Thread.sleep(20);
    }
    throw new IOException("no functions of " + file + " are probed after 10 s: " + last);
  }

  /** Waits until a trace's request is exported, and returns all calls of the trace by kind. */
  Map<String, Calls> of(String traceparent) throws InterruptedException {
    settle();
    return settled(traceparent);
  }

  /** Waits until this many calls of a trace are exported, but not for ever, and returns its calls by kind. */
  Map<String, Calls> of(String traceparent, String kinds, long count) throws InterruptedException {
    long began = System.nanoTime();
    while (Calls.of(of(traceparent), kinds).count() < count && System.nanoTime() - began < 10_000_000_000L) {}
    return settled(traceparent);
  }

  /** Waits until all ended requests are exported. */
  void settle() throws InterruptedException {
    Thread.sleep(400);
    for (int i = 0; i < 100 && bridge.status().flow().openRequests() > 0; i++) {
      Thread.sleep(50);
    }
    sdk.getSdkTracerProvider().forceFlush().join(10, TimeUnit.SECONDS);
  }

  Map<String, Calls> settled(String traceparent) {
    return byTrace.getOrDefault(traceparent.split("-")[1], Map.of());
  }

  Map<String, Long> losses() {
    return bridge.status().losses();
  }

  @Override
  public void close() {
    bridge.close();
    sdk.close();
  }

  private final class Totals implements SpanExporter {

    @Override
    public CompletableResultCode export(Collection<SpanData> spans) {
      for (SpanData span : spans) {
        if (byTrace.size() < MOST_TRACES || byTrace.containsKey(span.getTraceId())) {
          long nanos = span.getEndEpochNanos() - span.getStartEpochNanos();
          Calls calls = new Calls(Objects.requireNonNullElse(span.getAttributes().get(COUNT), 1L),
                  Objects.requireNonNullElse(span.getAttributes().get(SUM), nanos));
          byTrace.computeIfAbsent(span.getTraceId(), any -> new ConcurrentSkipListMap<>())
              .merge(span.getName().replace(" (folded)", ""), calls, Calls::plus);
        }
      }
      return CompletableResultCode.ofSuccess();
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
