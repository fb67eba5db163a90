package io.inferspan.pd.allow;

import io.inferspan.pd.config.Settings;
import io.inferspan.pd.config.SidecarConfig;
import io.inferspan.pd.config.SidecarConfig.PoolName;
import io.vertx.core.Vertx;
import java.util.function.Supplier;

/**
 * The hosts that requests may name as targets, as a protection against server-side request forgery.
 *
 * <p>Safe on event loops: a check needs no I/O and no lock.
 */
@FunctionalInterface
public interface AllowList extends AutoCloseable {

  /**
   * Returns the list that a configuration selects.
   *
   * @throws IllegalArgumentException with one sentence, if it cannot be created
   */
  static AllowList of(SidecarConfig config, Vertx vertx, Supplier<KubernetesApi> kubernetes) {
    if (!config.get(Settings.ENABLE_SSRF_PROTECTION)) {
      return everything();
    }
    // The file is read first: if that fails, no watch is left running.
    AllowList named =
        StaticAllowList.of(
            config.get(Settings.ALLOW_TARGET), config.path(Settings.ALLOW_TARGETS_FILE));
    PoolName pool = config.pool();
    return pool == null
        ? named
        : either(
            PoolAllowList.watch(
                vertx,
                kubernetes.get(),
                pool.namespace(),
                pool.name(),
                config.get(Settings.POOL_GROUP)),
            named);
  }

  /** Returns a list that allows every target, for use without protection. */
  static AllowList everything() {
    return _ -> true;
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

  /**
   * Returns whether the host of {@code hostPort} is on the list; the port is ignored. A leading
   * {@code http://} and brackets around an IPv6 address are accepted. Text that is not a host with
   * an optional port is denied.
   */
  boolean allows(String hostPort);

  /** Stops following changes; the last list stays in effect. */
  @Override
  default void close() {}
}
