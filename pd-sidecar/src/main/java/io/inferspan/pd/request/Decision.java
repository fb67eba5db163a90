package io.inferspan.pd.request;

import io.inferspan.pd.metrics.Api;
import io.inferspan.pd.upstream.Target;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The pods for the stages of a request.
 *
 * @param api the requested API
 * @param prefiller the prefill pod, or null for decode only
 * @param encoders the candidate encoders; empty for no encode stage
 * @param kvSource the pod that KV blocks may be pulled from, or null
 * @param dataParallel the sidecar address of the rank that a header requests, or null
 */
public record Decision(
    Api api,
    @Nullable Target prefiller,
    List<Target> encoders,
    @Nullable String kvSource,
    @Nullable String dataParallel) {

  /** Returns a decision without stages: not decided yet, or passed through. */
  public static Decision of(Api api) {
    return new Decision(api, null, List.of(), null, null);
  }
}
