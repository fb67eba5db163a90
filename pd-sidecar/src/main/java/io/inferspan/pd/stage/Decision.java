package io.inferspan.pd.stage;

import io.inferspan.pd.metrics.Api;
import io.inferspan.pd.upstream.Target;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where the stages of a request run.
 *
 * @param api which API was called
 * @param prefiller the prefill pod, or null for decode only
 * @param encoders the encoders that may be used; empty for no encode stage
 * @param kvSource the pod that KV blocks may be pulled from, or null
 * @param dataParallel the sidecar address of the rank that a header asks for, or null
 */
public record Decision(
    Api api,
    @Nullable Target prefiller,
    List<Target> encoders,
    @Nullable String kvSource,
    @Nullable String dataParallel) {}
