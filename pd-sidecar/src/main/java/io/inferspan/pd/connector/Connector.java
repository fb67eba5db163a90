package io.inferspan.pd.connector;

import io.inferspan.pd.stage.DecodeLeg;
import io.inferspan.pd.stage.PdRequest;

/** How KV blocks get from the prefill pod to the decoder: what each of them is asked, and when. */
public interface Connector {

  /** The name in settings, spans and metrics. */
  String name();

  /** Serves a request whose prefill runs on another pod. */
  void serve(PdRequest request);

  /** Whether KV blocks can be pulled from a pod that a header names. */
  default boolean pulls() {
    return false;
  }

  /**
   * Serves a request without prefill elsewhere that names a pod to pull KV blocks from.
   *
   * <p>Called only where {@link #pulls}.
   */
  default void decodeWithPull(PdRequest request, String kvSource) {
    request.decode(DecodeLeg.of(request.original()));
  }
}
