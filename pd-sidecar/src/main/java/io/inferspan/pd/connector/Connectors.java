package io.inferspan.pd.connector;

import io.inferspan.pd.config.SidecarConfig;
import io.inferspan.pd.connector.moriio.PodAddresses;

/** The connector that a sidecar is configured for. */
public final class Connectors {

  private Connectors() {}

  public static Connector of(SidecarConfig config, PodAddresses pods) {
    SidecarConfig.Connectors settings = config.connectors();
    return switch (settings.kv()) {
      case NIXLV2 -> Nixl.of(config, pods);
      case SHARED_STORAGE -> new SharedStorage(config.limits().jsonDepth());
      case SGLANG -> new Sglang(settings.sglangBootstrapPort());
      case MOONCAKE -> new Mooncake(settings.mooncakeBootstrapPort());
      case OFFLOADING -> new Offloading(config);
    };
  }
}
