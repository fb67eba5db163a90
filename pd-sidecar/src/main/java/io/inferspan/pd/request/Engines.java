package io.inferspan.pd.request;

import io.inferspan.pd.upstream.Upstreams;

/**
 * The engines that the proxy calls, by stage.
 *
 * @param prefillers on other pods
 * @param decoders on this pod
 * @param encoders on other pods
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
