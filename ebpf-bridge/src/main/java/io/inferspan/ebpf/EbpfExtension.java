package io.inferspan.ebpf;

import io.inferspan.Telemetry;
import io.inferspan.TelemetryExtension;
import io.inferspan.ebpf.context.PublishingContextStorage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Attaches a bridge to a telemetry if this jar is on the class path; controlled by INFERSPAN_EBPF.
 */
public final class EbpfExtension implements TelemetryExtension {

  /** Creates an extension that has done nothing yet. */
  public EbpfExtension() {}

  /** OpenTelemetry's context must be wrapped before its first use. */
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
