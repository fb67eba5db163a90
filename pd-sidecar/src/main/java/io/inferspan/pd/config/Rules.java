package io.inferspan.pd.config;

import io.inferspan.pd.config.SidecarConfig.PoolName;
import io.inferspan.pd.config.text.HostForm;
import io.inferspan.pd.config.text.Quoted;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The rules between settings. */
final class Rules {

  private final Values values;
  private final Notes notes;

  Rules(Values values, Notes notes) {
    this.values = values;
    this.notes = notes;
  }

  void check(KvConnector kv, @Nullable PoolName pool) throws ConfigException {
    ports();
    prefill();
    connector(kv);
    allowList(pool);
    moriIo(kv);
    hosts(Setting.MORIIO_REMOTE_HOSTS);
    hosts(Setting.MORIIO_DECODE_HOSTS);
    heldBodies();
  }

  private void heldBodies() throws ConfigException {
    long bodyLimit = values.size(Setting.BODY_LIMIT);
    if (values.size(Setting.HELD_BODIES_LIMIT) < bodyLimit) {
      throw values.refused(
          Setting.HELD_BODIES_LIMIT, "at least the body-limit, which is %d".formatted(bodyLimit));
    }
  }

  /** The address at which prefillers reach the decoder, or null if nothing says it. */
  static @Nullable String localPodIp(Values values) {
    String own = values.textOrNull(Setting.MORIIO_LOCAL_POD_IP);
    return own == null ? values.textOrNull(Setting.POD_IP) : own;
  }

  private void ports() throws ConfigException {
    range(Setting.PORT);
    range(Setting.MODEL_SERVER_PORT);
    range(Setting.P2P_CONNECTOR_PORT);
    int port = values.integer(Setting.PORT);
    int size = values.integer(Setting.DATA_PARALLEL_SIZE);
    int modelServerPort = values.integer(Setting.MODEL_SERVER_PORT);
    if (Math.abs(port - modelServerPort) < size) {
      throw values.refused(
          Setting.MODEL_SERVER_PORT,
          "a port whose %d rank(s) are apart from those of port %d".formatted(size, port));
    }
    if (port == 0 && size > 1) {
      throw values.refused(Setting.PORT, "at least 1 where data-parallel-size is " + size);
    }
    int metricsPort = values.integer(Setting.METRICS_PORT);
    if (metricsPort > 0
        && (within(metricsPort, port, size) || within(metricsPort, modelServerPort, size))) {
      throw values.refused(
          Setting.METRICS_PORT, "a port other than those of port and of model-server-port");
    }
  }

  private static boolean within(int port, int first, int size) {
    return first <= port && port < first + size;
  }

  private void range(Setting port) throws ConfigException {
    int last = Kind.MAX_PORT - values.integer(Setting.DATA_PARALLEL_SIZE) + 1;
    if (values.integer(port) > last) {
      throw values.refused(
          port,
          "at most %d where data-parallel-size is %d"
              .formatted(last, values.integer(Setting.DATA_PARALLEL_SIZE)));
    }
  }

  private void prefill() throws ConfigException {
    boolean retries = values.integer(Setting.PREFILL_MAX_RETRIES) > 0;
    if (retries && values.duration(Setting.PREFILL_RETRY_BACKOFF).isZero()) {
      throw values.refused(
          Setting.PREFILL_RETRY_BACKOFF, "longer than 0 where prefill-max-retries is set");
    }
  }

  private void connector(KvConnector kv) throws ConfigException {
    if (values.isOn(Setting.ENABLE_P2P_PULL) && !kv.name().equals(KvConnector.NIXL)) {
      throw values.refused(Setting.ENABLE_P2P_PULL, "false where kv-connector is " + kv.name());
    }
  }

  private void allowList(@Nullable PoolName pool) throws ConfigException {
    boolean targets = false;
    for (String target : values.list(Setting.ALLOW_TARGET)) {
      targets = true;
      if (!HostForm.isTarget(target)) {
        throw new ConfigException(
            "allow-target must be a host name, an IP or a CIDR without port, but is %s (from %s)"
                .formatted(Quoted.text(target), values.given(Setting.ALLOW_TARGET).origin()));
      }
    }
    targets |= values.textOrNull(Setting.ALLOW_TARGETS_FILE) != null;
    boolean enabled = values.isOn(Setting.ENABLE_SSRF_PROTECTION);
    if (enabled && pool == null && !targets) {
      throw values.refused(
          Setting.ENABLE_SSRF_PROTECTION,
          "false unless --inference-pool (or INFERENCE_POOL), --allow-target or"
              + " --allow-targets-file says which hosts are allowed");
    }
    if (!enabled && targets) {
      notes.add("allow-target and allow-targets-file do nothing without --enable-ssrf-protection");
    }
    if (values.text(Setting.POOL_GROUP).isEmpty()) {
      throw values.refused(Setting.POOL_GROUP, "the API group of the InferencePool");
    }
  }

  private void moriIo(KvConnector kv) throws ConfigException {
    boolean write = values.isOn(Setting.MORIIO_WRITE_MODE);
    if (write && localPodIp(values) == null) {
      throw values.refused(
          Setting.MORIIO_WRITE_MODE,
          "false unless --moriio-local-pod-ip (or POD_IP) says where prefillers reach the decoder");
    }
    if (write && !kv.name().equals(KvConnector.NIXL)) {
      notes.add("moriio-write-mode does nothing where kv-connector is " + kv.name());
    }
    if (!values.isOn(Setting.MORIIO_PARALLEL_DISPATCH)) {
      return;
    }
    if (!write) {
      throw values.refused(Setting.MORIIO_PARALLEL_DISPATCH, "false without --moriio-write-mode");
    }
    if (values.duration(Setting.MORIIO_PARALLEL_DECODE_WAIT_TIMEOUT).isZero()) {
      throw values.refused(
          Setting.MORIIO_PARALLEL_DECODE_WAIT_TIMEOUT,
          "longer than 0 where moriio-parallel-dispatch is on");
    }
  }

  /** Rank r is on pod r / dp-size-local, so there must be a host for each. */
  private void hosts(Setting setting) throws ConfigException {
    List<String> hosts = values.list(setting);
    if (hosts.size() < 2) {
      return;
    }
    int size = values.integer(Setting.MORIIO_DP_SIZE);
    int local = values.integer(Setting.MORIIO_DP_SIZE_LOCAL);
    if (local == 0 || size % local != 0) {
      throw values.refused(
          Setting.MORIIO_DP_SIZE_LOCAL,
          "a divisor of moriio-dp-size %d where %s names %d hosts"
              .formatted(size, setting.key(), hosts.size()));
    }
    if (hosts.size() != size / local) {
      throw values.refused(
          setting, "%d hosts, which is moriio-dp-size/dp-size-local".formatted(size / local));
    }
  }
}
