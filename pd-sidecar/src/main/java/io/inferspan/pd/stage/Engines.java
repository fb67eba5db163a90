package io.inferspan.pd.stage;

import io.inferspan.pd.upstream.Upstreams;

/**
 * The engines that the proxy calls, by stage.
 *
 * @param prefillers on other pods
 * @param decoders on this pod
 * @param encoders on other pods
 * @param bootstraps what prefillers tell about themselves; never with TLS
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
