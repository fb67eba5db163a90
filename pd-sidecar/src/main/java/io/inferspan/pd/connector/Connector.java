package io.inferspan.pd.connector;

import io.inferspan.pd.config.KvConnector;
import io.inferspan.pd.config.SidecarConfig;
import io.inferspan.pd.request.DecodeLeg;
import io.inferspan.pd.request.PdRequest;

/**
 * Transfers KV blocks from the prefill pod to the decoder: builds the requests to both, and
 * determines their order.
 *
 * <p>An implementation is annotated {@code @AutoService(KvConnector.class)} and has a public
 * constructor without parameters; nothing else refers to it.
 */
public interface Connector extends KvConnector {

  /** Returns the connector that the settings name. */
  static Connector of(SidecarConfig config, PodAddresses pods) {
    KvConnector named = config.kvConnector();
    if (named instanceof Connector connector) {
      return connector.configured(config, pods);
    }
    throw new IllegalStateException(
        named.name() + " cannot serve requests; implement " + Connector.class.getName());
  }

  /** Returns the connector with its settings; called once at startup. */
  default Connector configured(SidecarConfig config, PodAddresses pods) {
    return this;
  }

  /** Serves a request whose prefill runs on another pod. */
  void serve(PdRequest request);

  /**
   * Returns whether decode may run in chunks, which are calls with a limited number of tokens. Only
   * the first chunk then needs prefill.
   */
  default boolean decodesInChunks() {
    return false;
  }

  /**
   * Returns whether KV blocks can be pulled from the pod that the header {@code
   * x-kv-cache-source-host-port} names.
   */
  default boolean pulls() {
    return false;
  }

  /**
   * Serves a decode-only request that names a pod to pull KV blocks from.
   *
   * <p>Called only if {@link #pulls} returns true.
   */
  default void decodeWithPull(PdRequest request, String kvSource) {
    request.stream(DecodeLeg.of(request.body().original()));
  }
}
