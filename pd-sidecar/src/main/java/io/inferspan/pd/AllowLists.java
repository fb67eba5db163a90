package io.inferspan.pd;

import io.inferspan.pd.allow.AllowList;
import io.inferspan.pd.allow.KubernetesApi;
import io.inferspan.pd.allow.PoolAllowList;
import io.inferspan.pd.allow.StaticAllowList;
import io.inferspan.pd.config.SidecarConfig.AllowListConfig;
import io.inferspan.pd.config.SidecarConfig.PoolName;
import io.vertx.core.Vertx;
import java.util.function.Supplier;

/** The allow-list that a configuration asks for. */
final class AllowLists {

  private AllowLists() {}

  static AllowList of(AllowListConfig config, Vertx vertx, Supplier<KubernetesApi> kubernetes) {
    if (!config.enabled()) {
      return AllowList.everything();
    }
    PoolName pool = config.pool();
    boolean listed = !config.allowedTargets().isEmpty() || config.allowedTargetsFile() != null;
    if (pool == null) {
      return listed(config);
    }
    // Before the watch, which would outlive a file that cannot be read.
    AllowList named = listed ? listed(config) : _ -> false;
    AllowList watched =
        PoolAllowList.watch(
            vertx, kubernetes.get(), pool.namespace(), pool.name(), config.poolGroup());
    return either(watched, named);
  }

  private static AllowList listed(AllowListConfig config) {
    return StaticAllowList.of(config.allowedTargets(), config.allowedTargetsFile());
  }

  private static AllowList either(AllowList first, AllowList second) {
    return new AllowList() {
      @Override
      public boolean allows(String hostPort) {
        return first.allows(hostPort) || second.allows(hostPort);
      }

      @Override
      public void close() {
        first.close();
        second.close();
      }
    };
  }
}
