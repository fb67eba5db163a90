package io.inferspan.pd.request;

import io.inferspan.pd.upstream.Upstreams;

/**
 * The engines that the proxy calls, by stage.
 *
 * @param bootstraps bootstrap servers of prefillers; never with TLS
 */
public record Engines(
    Upstreams prefillers, Upstreams decoders, Upstreams encoders, Upstreams bootstraps)
    implements AutoCloseable {

  @Override
  public void close() {
    prefillers.close();
    decoders.close();
    encoders.close();
    bootstraps.close();
  }
}
