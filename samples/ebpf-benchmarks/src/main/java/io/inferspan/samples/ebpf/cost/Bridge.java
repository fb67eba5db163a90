package io.inferspan.samples.ebpf.cost;

import io.inferspan.Telemetry;
import io.inferspan.ebpf.BridgeConfig;
import io.inferspan.ebpf.BridgeStatus;
import io.inferspan.ebpf.EbpfBridge;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.time.Duration;
import java.util.Collection;

/** The bridge with its default probes, and an SDK whose exporter discards spans. */
final class Bridge implements Subject.Watching {

  private final OpenTelemetrySdk sdk;
  private final EbpfBridge bridge;

  private Bridge(OpenTelemetrySdk sdk, EbpfBridge bridge) {
    this.sdk = sdk;
    this.bridge = bridge;
  }

  /**
   * Attaches a bridge whose probes stay attached; returns when the functions in these files are
   * probed.
   */
  static Bridge attach(String... files) {
    return attach(Duration.ZERO, files);
  }

  /**
   * Attaches a bridge; returns when it has detached the probes that are only needed for requests.
   */
  static Bridge attachToSleep(String... files) {
    Bridge bridge = attach(Duration.ofMillis(1), files);
    Waiting.until("the bridge to fall asleep", bridge::isAsleep);
    return bridge;
  }

  /** Attaches a bridge that detaches probes after this time without a sampled request. */
  static Bridge attach(Duration sleepAfter, String... files) {
    return attach(BridgeConfig.builder().sleepAfter(sleepAfter), files);
  }

  static Bridge attach(BridgeConfig.Builder builder, String... files) {
    OpenTelemetrySdk sdk =
        OpenTelemetrySdk.builder()
            .setTracerProvider(
                SdkTracerProvider.builder()
                    .addSpanProcessor(BatchSpanProcessor.builder(new DiscardingExporter()).build())
                    .build())
            .build();
    BridgeConfig config = builder.ownThreads(false).build();
    Bridge attached = new Bridge(sdk, EbpfBridge.attach(Telemetry.using(sdk), config));
    for (String file : files) {
      Waiting.until("probes on functions of " + file, () -> attached.watches(file));
    }
    return attached;
  }

  private boolean watches(String library) {
    return bridge.status().libraries().stream()
        .anyMatch(one -> one.outcome().matches(library + ": \\d+ functions"));
  }

  /** Returns whether the probes that are only needed for requests are detached. */
  boolean isAsleep() {
    return status().sleep().asleep();
  }

  /**
   * Fails unless exactly this number of events of the kind was produced. Otherwise, a cost per call
   * would be meaningless.
   */
  void requireProduced(String kind, long events) {
    long produced =
        status().events().stream()
            .filter(seen -> seen.kind().equals(kind))
            .mapToLong(BridgeStatus.Events::produced)
            .sum();
    if (produced != events) {
      throw new IllegalStateException(
          "Expected %d events of %s, but %d were produced".formatted(events, kind, produced));
    }
  }

  /**
   * Fails if fewer records of the kind were read than there were engine steps, or if an event was
   * lost.
   */
  void requireSteps(String kind, long steps) {
    long read =
        status().events().stream()
            .filter(seen -> seen.kind().equals(kind))
            .mapToLong(BridgeStatus.Events::read)
            .sum();
    if (read < steps || status().lost() > 0) {
      throw new IllegalStateException(
          "Expected records of %d steps, but read %d and lost %d events"
              .formatted(steps, read, status().lost()));
    }
  }

  /** Returns the number of events of all kinds so far. */
  long eventsRead() {
    return status().events().stream().mapToLong(BridgeStatus.Events::read).sum();
  }

  BridgeStatus status() {
    return bridge.status();
  }

  @Override
  public void close() {
    bridge.close();
    sdk.close();
  }

  private static final class DiscardingExporter implements SpanExporter {

    @Override
    public CompletableResultCode export(Collection<SpanData> spans) {
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
