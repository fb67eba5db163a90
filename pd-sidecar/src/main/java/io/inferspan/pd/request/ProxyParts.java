package io.inferspan.pd.request;

import io.inferspan.pd.allow.AllowList;
import io.inferspan.pd.config.Settings;
import io.inferspan.pd.config.SidecarConfig;
import io.inferspan.pd.net.HeldBodies;
import io.inferspan.pd.telemetry.PdTracing;
import io.inferspan.pd.telemetry.SidecarMetrics;
import io.inferspan.pd.upstream.Target;
import io.inferspan.pd.upstream.Upstreams;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * The objects that all requests of a sidecar share.
 *
 * @param bootstraps the connections to Mooncake's bootstrap servers on prefill pods; never with TLS
 * @param workers threads for work that would block an event loop
 */
public record ProxyParts(
    SidecarConfig config,
    Upstreams prefillers,
    Upstreams decoders,
    Upstreams encoders,
    Upstreams bootstraps,
    AllowList allowList,
    PdTracing tracing,
    SidecarMetrics metrics,
    HeldBodies heldBodies,
    Executor workers)
    implements AutoCloseable {
  /** Returns the decoder of a rank. */
  public Target decoder(int rank) {
    return new Target("localhost", config.get(Settings.MODEL_SERVER_PORT) + rank);
  }

  /** Returns the decoder of the rank whose sidecar has this address; null if there is none. */
  public @Nullable Target decoderAt(String address) {
    String podIp = config.orNull(Settings.POD_IP);
    for (int rank = 0; podIp != null && rank < config.get(Settings.DATA_PARALLEL_SIZE); rank++) {
      if (new Target(podIp, config.get(Settings.PORT) + rank).authority().equals(address)) {
        return decoder(rank);
      }
    }
    return null;
  }

  @Override
  public void close() {
    prefillers.close();
    decoders.close();
    encoders.close();
    bootstraps.close();
    allowList.close();
    metrics.close();
  }
}
