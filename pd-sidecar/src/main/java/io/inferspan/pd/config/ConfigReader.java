package io.inferspan.pd.config;

import io.inferspan.pd.config.SidecarConfig.AllowListConfig;
import io.inferspan.pd.config.SidecarConfig.Connectors;
import io.inferspan.pd.config.SidecarConfig.EcConnector;
import io.inferspan.pd.config.SidecarConfig.Limits;
import io.inferspan.pd.config.SidecarConfig.Listening;
import io.inferspan.pd.config.SidecarConfig.MoriIo;
import io.inferspan.pd.config.SidecarConfig.PoolName;
import io.inferspan.pd.config.SidecarConfig.Prefill;
import io.inferspan.pd.config.SidecarConfig.Stage;
import io.inferspan.pd.config.SidecarConfig.Transport;
import io.inferspan.pd.config.SidecarConfig.Upstream;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Makes the configuration of values that the rules allow. */
final class ConfigReader {

  private static final String DEFAULT_NAMESPACE = "default";

  private final Values values;
  private final Notes notes;

  ConfigReader(Values values, Notes notes) {
    this.values = values;
    this.notes = notes;
  }

  SidecarConfig read() throws ConfigException {
    PoolName pool = pool();
    new Rules(values, notes).check(kvConnector(), pool);
    return new SidecarConfig(
        listening(),
        upstream(),
        connectors(),
        prefill(),
        allowList(pool),
        moriIo(),
        limits(),
        values.isOn(Setting.TRACING),
        (Level) values.given(Setting.LOG_LEVEL).value(),
        notes.all());
  }

  private Listening listening() throws ConfigException {
    return new Listening(
        values.integer(Setting.PORT),
        values.isOn(Setting.SECURE_PROXY),
        values.path(Setting.CERT_PATH),
        values.integer(Setting.METRICS_PORT),
        values.integer(Setting.DATA_PARALLEL_SIZE),
        values.duration(Setting.SHUTDOWN_TIMEOUT),
        Transport.valueOf(values.text(Setting.TRANSPORT).toUpperCase(Locale.ROOT)),
        values.integer(Setting.EVENT_LOOPS));
  }

  private Upstream upstream() throws ConfigException {
    return new Upstream(
        values.integer(Setting.MODEL_SERVER_PORT),
        stages(Setting.ENABLE_TLS, Setting.PREFILLER_USE_TLS, Setting.DECODER_USE_TLS),
        stages(
            Setting.TLS_INSECURE_SKIP_VERIFY,
            Setting.PREFILLER_SKIP_VERIFY,
            Setting.DECODER_SKIP_VERIFY),
        values.path(Setting.TLS_CA_FILE),
        values.integer(Setting.MAX_IDLE_CONNS_PER_HOST));
  }

  private Set<Stage> stages(Setting list, Setting oldPrefiller, Setting oldDecoder) {
    Set<Stage> stages = EnumSet.noneOf(Stage.class);
    for (String stage : values.list(list)) {
      stages.add(Stage.valueOf(stage.toUpperCase(Locale.ROOT)));
    }
    if (adds(oldPrefiller, list)) {
      stages.add(Stage.PREFILLER);
    }
    if (adds(oldDecoder, list)) {
      stages.add(Stage.DECODER);
    }
    return stages;
  }

  /** An old boolean adds its stage, unless a stronger source has the list. */
  private boolean adds(Setting old, Setting list) {
    return values.isOn(old) && values.layerOf(old) <= values.layerOf(list);
  }

  private Connectors connectors() {
    return new Connectors(
        kvConnector(),
        ecConnector(),
        values.integer(Setting.MOONCAKE_BOOTSTRAP_PORT),
        values.integer(Setting.SGLANG_BOOTSTRAP_PORT),
        values.integer(Setting.P2P_CONNECTOR_PORT),
        values.isOn(Setting.ENABLE_P2P_PULL),
        values.integer(Setting.DECODE_CHUNK_SIZE),
        values.textOrNull(Setting.POD_IP));
  }

  private KvConnector kvConnector() {
    String name = values.text(Setting.KV_CONNECTOR);
    KvConnector connector = KvConnector.named(name);
    if (!connector.name().equals(name)) {
      notes.deprecated(
          "kv-connector %s (from %s)".formatted(name, values.given(Setting.KV_CONNECTOR).origin()),
          "kv-connector=" + connector.name());
    }
    return connector;
  }

  private EcConnector ecConnector() {
    String name = values.text(Setting.EC_CONNECTOR);
    for (EcConnector connector : EcConnector.values()) {
      if (connector.wireName().equals(name)) {
        return connector;
      }
    }
    throw new IllegalStateException(name);
  }

  private Prefill prefill() {
    return new Prefill(
        values.isOn(Setting.ENABLE_PREFILLER_SAMPLING),
        values.integer(Setting.PREFILL_MAX_RETRIES),
        values.duration(Setting.PREFILL_RETRY_BACKOFF),
        values.duration(Setting.PREFILL_TIMEOUT),
        values.duration(Setting.PREFILL_LINGER_TIMEOUT));
  }

  private @Nullable PoolName pool() throws ConfigException {
    String pool = values.textOrNull(Setting.INFERENCE_POOL);
    String name = values.textOrNull(Setting.INFERENCE_POOL_NAME);
    boolean oldIsStronger =
        values.layerOf(Setting.INFERENCE_POOL_NAME) < values.layerOf(Setting.INFERENCE_POOL);
    if (name != null && (pool == null || oldIsStronger)) {
      String namespace = values.textOrNull(Setting.INFERENCE_POOL_NAMESPACE);
      return new PoolName(namespace == null ? DEFAULT_NAMESPACE : namespace, name);
    }
    return pool == null ? null : poolNamed(pool);
  }

  private PoolName poolNamed(String pool) throws ConfigException {
    int slash = pool.indexOf('/');
    String namespace = slash < 0 ? DEFAULT_NAMESPACE : pool.substring(0, slash);
    String name = pool.substring(slash + 1);
    if (namespace.isEmpty() || name.isEmpty() || name.indexOf('/') >= 0) {
      throw values.refused(Setting.INFERENCE_POOL, "namespace/name or name");
    }
    return new PoolName(namespace, name);
  }

  private AllowListConfig allowList(@Nullable PoolName pool) throws ConfigException {
    return new AllowListConfig(
        values.isOn(Setting.ENABLE_SSRF_PROTECTION),
        pool,
        values.text(Setting.POOL_GROUP),
        values.list(Setting.ALLOW_TARGET),
        values.path(Setting.ALLOW_TARGETS_FILE));
  }

  private MoriIo moriIo() {
    return new MoriIo(
        values.isOn(Setting.MORIIO_WRITE_MODE),
        values.isOn(Setting.MORIIO_PARALLEL_DISPATCH),
        values.integer(Setting.MORIIO_DECODE_NOTIFY_PORT),
        values.integer(Setting.MORIIO_DECODE_HANDSHAKE_PORT),
        values.integer(Setting.MORIIO_PREFILL_NOTIFY_PORT),
        values.integer(Setting.MORIIO_PREFILL_HANDSHAKE_PORT),
        Rules.localPodIp(values),
        values.duration(Setting.MORIIO_PARALLEL_DECODE_WAIT_TIMEOUT),
        values.integer(Setting.MORIIO_TP_SIZE),
        values.integer(Setting.MORIIO_DP_SIZE),
        values.integer(Setting.MORIIO_DP_SIZE_LOCAL),
        values.list(Setting.MORIIO_REMOTE_HOSTS),
        values.list(Setting.MORIIO_DECODE_HOSTS),
        Duration.ofSeconds(values.integer(Setting.MORIIO_DNS_RESOLVE_TTL)),
        Duration.ofSeconds(values.integer(Setting.MORIIO_DNS_RESOLVE_TIMEOUT)));
  }

  private Limits limits() {
    return new Limits(
        values.size(Setting.BODY_LIMIT),
        values.size(Setting.HELD_BODIES_LIMIT),
        values.duration(Setting.BODY_TIMEOUT),
        values.size(Setting.BODY_MIN_RATE),
        values.integer(Setting.JSON_DEPTH_LIMIT),
        values.integer(Setting.MAX_HEADER_BYTES));
  }
}
