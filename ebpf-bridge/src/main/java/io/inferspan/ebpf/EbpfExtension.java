package io.inferspan.ebpf;

import io.inferspan.Telemetry;
import io.inferspan.TelemetryExtension;
import io.inferspan.ebpf.context.PublishingContextStorage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Attaches a bridge to each {@link Telemetry} instance if this jar is on the class path; {@code
 * INFERSPAN_EBPF=off} disables it.
 */
public final class EbpfExtension implements TelemetryExtension {

  /** Used by {@link java.util.ServiceLoader}. */
  public EbpfExtension() {}

  /**
   * Installs the bridge's context storage, which is only possible before the first use of
   * OpenTelemetry's context.
   */
  @Override
  public void prepare() {
    boolean ignored = PublishingContextStorage.install();
  }

  @Override
  public String name() {
    return "ebpf";
  }

  @Override
  public AutoCloseable join(Telemetry telemetry, Function<String, @Nullable String> settings) {
    return EbpfBridge.attach(telemetry, BridgeConfig.from(settings));
  }
}
