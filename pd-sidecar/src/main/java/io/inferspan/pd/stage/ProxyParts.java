package io.inferspan.pd.stage;

import io.inferspan.pd.allow.AllowList;
import io.inferspan.pd.config.SidecarConfig;
import io.inferspan.pd.metrics.SidecarMetrics;
import io.inferspan.pd.relay.HeldBodies;
import io.inferspan.pd.tracing.PdTracing;

/**
 * What all requests of a sidecar share.
 *
 * @param config the settings
 * @param engines connections to engines
 * @param decoders the local ranks
 * @param allowList where prefill and encode may run
 * @param tracing opens spans
 * @param metrics counts
 * @param heldBodies what bodies may take
 */
public record ProxyParts(
    SidecarConfig config,
    Engines engines,
    Decoders decoders,
    AllowList allowList,
    PdTracing tracing,
    SidecarMetrics metrics,
    HeldBodies heldBodies) {}
