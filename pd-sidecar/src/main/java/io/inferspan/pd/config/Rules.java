package io.inferspan.pd.config;

import java.util.List;

/** Checks the rules between settings. */
final class Rules {

  private final SidecarConfig config;
  private final Notes notes;

  Rules(SidecarConfig config, Notes notes) {
    this.config = config;
    this.notes = notes;
  }

  void check() throws ConfigException {
    KvConnector kv = config.kvConnector();
    pool();
    ports();
    prefill();
    connector(kv);
    allowList();
    moriIo(kv);
    hosts(Settings.MORIIO_REMOTE_HOSTS);
    hosts(Settings.MORIIO_DECODE_HOSTS);
    heldBodies();
  }

  private void pool() throws ConfigException {
    String pool = config.get(Settings.INFERENCE_POOL);
    int slash = pool.indexOf('/');
    if (slash == 0 || pool.endsWith("/") || slash != pool.lastIndexOf('/')) {
      throw config.refused(Settings.INFERENCE_POOL, "namespace/name or name");
    }
  }

  private void heldBodies() throws ConfigException {
    long bodyLimit = config.get(Settings.BODY_LIMIT);
    if (config.get(Settings.HELD_BODIES_LIMIT) < bodyLimit) {
      throw config.refused(
          Settings.HELD_BODIES_LIMIT, "at least the body-limit, which is %d".formatted(bodyLimit));
    }
  }

  private void ports() throws ConfigException {
    range(Settings.PORT);
    range(Settings.MODEL_SERVER_PORT);
    range(Settings.P2P_CONNECTOR_PORT);
    int port = config.get(Settings.PORT);
    int size = config.get(Settings.DATA_PARALLEL_SIZE);
    int modelServerPort = config.get(Settings.MODEL_SERVER_PORT);
    if (Math.abs(port - modelServerPort) < size) {
      throw config.refused(
          Settings.MODEL_SERVER_PORT,
          "at least %d (data-parallel-size) apart from port, which is %d".formatted(size, port));
    }
    if (port == 0 && size > 1) {
      throw config.refused(Settings.PORT, "at least 1 if data-parallel-size is " + size);
    }
    int metricsPort = config.get(Settings.METRICS_PORT);
    if (metricsPort > 0
        && (within(metricsPort, port, size) || within(metricsPort, modelServerPort, size))) {
      throw config.refused(
          Settings.METRICS_PORT, "a port that neither port nor model-server-port uses");
    }
  }

  private static boolean within(int port, int first, int size) {
    return first <= port && port < first + size;
  }

  private void range(Setting<Integer> port) throws ConfigException {
    int last = Kind.MAX_PORT - config.get(Settings.DATA_PARALLEL_SIZE) + 1;
    if (config.get(port) > last) {
      throw config.refused(
          port,
          "at most %d if data-parallel-size is %d"
              .formatted(last, config.get(Settings.DATA_PARALLEL_SIZE)));
    }
  }

  private void prefill() throws ConfigException {
    boolean retries = config.get(Settings.PREFILL_MAX_RETRIES) > 0;
    if (retries && config.get(Settings.PREFILL_RETRY_BACKOFF).isZero()) {
      throw config.refused(
          Settings.PREFILL_RETRY_BACKOFF, "longer than 0 if prefill-max-retries is set");
    }
  }

  private void connector(KvConnector kv) throws ConfigException {
    String name = config.get(Settings.KV_CONNECTOR);
    if (!kv.name().equals(name)) {
      notes.deprecated(
          "kv-connector %s (from %s)".formatted(name, config.given(Settings.KV_CONNECTOR).origin()),
          "kv-connector=" + kv.name());
    }
    if (config.get(Settings.ENABLE_P2P_PULL) && !kv.name().equals(KvConnector.NIXL)) {
      throw config.refused(Settings.ENABLE_P2P_PULL, "false if kv-connector is " + kv.name());
    }
  }

  private void allowList() throws ConfigException {
    boolean targets = false;
    for (String target : config.get(Settings.ALLOW_TARGET)) {
      targets = true;
      if (!HostText.isEntry(target)) {
        throw ConfigException.refused(
            Settings.ALLOW_TARGET,
            "a host name, an IP or a CIDR without port",
            target,
            config.given(Settings.ALLOW_TARGET).origin());
      }
    }
    targets |= config.orNull(Settings.ALLOW_TARGETS_FILE) != null;
    boolean enabled = config.get(Settings.ENABLE_SSRF_PROTECTION);
    if (enabled && config.pool() == null && !targets) {
      throw config.refused(
          Settings.ENABLE_SSRF_PROTECTION,
          "false unless --inference-pool (or INFERENCE_POOL), --allow-target or"
              + " --allow-targets-file is set");
    }
    if (!enabled && targets) {
      notes.add("allow-target and allow-targets-file do nothing without --enable-ssrf-protection");
    }
    if (config.get(Settings.POOL_GROUP).isEmpty()) {
      throw config.refused(Settings.POOL_GROUP, "the API group of the InferencePool");
    }
  }

  private void moriIo(KvConnector kv) throws ConfigException {
    boolean write = config.get(Settings.MORIIO_WRITE_MODE);
    if (write && config.localPodIp() == null) {
      throw config.refused(
          Settings.MORIIO_WRITE_MODE, "false unless --moriio-local-pod-ip (or POD_IP) is set");
    }
    if (write && !kv.name().equals(KvConnector.NIXL)) {
      notes.add("moriio-write-mode does nothing if kv-connector is " + kv.name());
    }
    if (!config.get(Settings.MORIIO_PARALLEL_DISPATCH)) {
      return;
    }
    if (!write) {
      throw config.refused(Settings.MORIIO_PARALLEL_DISPATCH, "false without --moriio-write-mode");
    }
    if (config.get(Settings.MORIIO_PARALLEL_DECODE_WAIT_TIMEOUT).isZero()) {
      throw config.refused(
          Settings.MORIIO_PARALLEL_DECODE_WAIT_TIMEOUT,
          "longer than 0 if moriio-parallel-dispatch is on");
    }
  }

  /** Checks that there is a host for each pod: rank r is on pod r / moriio-dp-size-local. */
  private void hosts(Setting<List<String>> setting) throws ConfigException {
    List<String> hosts = config.get(setting);
    if (hosts.size() < 2) {
      return;
    }
    int size = config.get(Settings.MORIIO_DP_SIZE);
    int local = config.get(Settings.MORIIO_DP_SIZE_LOCAL);
    if (local == 0 || size % local != 0) {
      throw config.refused(
          Settings.MORIIO_DP_SIZE_LOCAL,
          "a divisor of moriio-dp-size %d if %s names %d hosts"
              .formatted(size, setting.key, hosts.size()));
    }
    if (hosts.size() != size / local) {
      throw config.refused(
          setting, "%d hosts (moriio-dp-size / moriio-dp-size-local)".formatted(size / local));
    }
  }
}
