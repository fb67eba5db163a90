package io.inferspan.pd.request;

import io.inferspan.pd.allow.AllowList;
import io.inferspan.pd.config.SidecarConfig;
import io.inferspan.pd.net.HeldBodies;
import io.inferspan.pd.telemetry.PdTracing;
import io.inferspan.pd.telemetry.SidecarMetrics;
import java.util.concurrent.Executor;

/**
 * The objects that all requests of a sidecar share.
 *
 * @param workers threads for work that would block an event loop
 */
public record ProxyParts(
    SidecarConfig config,
    Engines engines,
    Decoders decoders,
    AllowList allowList,
    PdTracing tracing,
    SidecarMetrics metrics,
    HeldBodies heldBodies,
    Executor workers) {}
