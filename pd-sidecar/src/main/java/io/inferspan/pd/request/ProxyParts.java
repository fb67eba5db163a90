package io.inferspan.pd.request;

import io.inferspan.pd.allow.AllowList;
import io.inferspan.pd.config.SidecarConfig;
import io.inferspan.pd.net.HeldBodies;
import io.inferspan.pd.telemetry.PdTracing;
import io.inferspan.pd.telemetry.SidecarMetrics;
import io.inferspan.pd.upstream.Upstreams;
import java.util.concurrent.Executor;

/**
 * The objects that all requests of a sidecar share.
 *
 * @param bootstraps bootstrap servers of prefillers; never with TLS
 * @param ranks the local decoders
 * @param workers threads for work that would block an event loop
 */
public record ProxyParts(
    SidecarConfig config,
    Upstreams prefillers,
    Upstreams decoders,
    Upstreams encoders,
    Upstreams bootstraps,
    Decoders ranks,
    AllowList allowList,
    PdTracing tracing,
    SidecarMetrics metrics,
    HeldBodies heldBodies,
    Executor workers)
    implements AutoCloseable {

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
