package io.inferspan.pd.request;

import io.inferspan.pd.upstream.Target;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The pods for the stages of a request.
 *
 * @param prefiller the prefill pod, or null for decode only
 * @param encoders the candidate encoders; empty for no encode stage
 * @param kvSource the pod that KV blocks may be pulled from, or null
 * @param decoder the decoder of the rank that a header requests, or else of the listener's own
 *     rank; null if the header names an unknown rank, which is a client error
 * @param routed whether the header requests a rank
 */
public record Decision(
    @Nullable Target prefiller,
    List<Target> encoders,
    @Nullable String kvSource,
    @Nullable Target decoder,
    boolean routed) {

  /** Nothing is decided yet, or the request is passed through. */
  static final Decision NONE = new Decision(null, List.of(), null, null, false);
}
