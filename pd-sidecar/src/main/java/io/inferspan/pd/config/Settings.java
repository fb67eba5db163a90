package io.inferspan.pd.config;

import static io.inferspan.pd.config.Setting.Group.ALLOW_LIST;
import static io.inferspan.pd.config.Setting.Group.CONNECTORS;
import static io.inferspan.pd.config.Setting.Group.DEPRECATED;
import static io.inferspan.pd.config.Setting.Group.IGNORED;
import static io.inferspan.pd.config.Setting.Group.LIMITS;
import static io.inferspan.pd.config.Setting.Group.LISTENING;
import static io.inferspan.pd.config.Setting.Group.MORIIO;
import static io.inferspan.pd.config.Setting.Group.OBSERVABILITY;
import static io.inferspan.pd.config.Setting.Group.PREFILL;
import static io.inferspan.pd.config.Setting.Group.SOURCE;
import static io.inferspan.pd.config.Setting.Group.UPSTREAM;

import io.inferspan.pd.config.Setting.Group;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * All settings, each declared once; flags, YAML, environment, help and {@code SETTINGS.md} are
 * derived from this class.
 */
public final class Settings {
  private static final List<Setting<?>> ALL = new ArrayList<>();
  private static final Map<String, Setting<?>> BY_NAME = new HashMap<>();

  public static final Setting<Integer> PORT =
      in(LISTENING, "port", Kind.whole(0, Kind.MAX_PORT), 8000)
          .says("Port for requests; 0 selects a free port.");

  public static final Setting<Integer> DATA_PARALLEL_SIZE =
      in(LISTENING, "data-parallel-size", Kind.PORT, 1)
          .says(
              "Data-parallel ranks; rank i listens on port+i and decodes on model-server-port+i.");

  public static final Setting<Boolean> SECURE_PROXY =
      in(LISTENING, "secure-proxy", Kind.ON_OFF, true)
          .also("secure-serving")
          .says("Serve requests over TLS.");

  public static final Setting<String> CERT_PATH =
      in(LISTENING, "cert-path", Kind.PATH, "")
          .says(
              "Folder with tls.crt and tls.key, reloaded when they change; by default the certificate"
                  + " is self-signed.");

  public static final Setting<Duration> SHUTDOWN_TIMEOUT =
      in(LISTENING, "shutdown-timeout", Kind.DURATION, "60s")
          .says("Time for active requests to end after SIGTERM.");

  public static final Setting<String> TRANSPORT =
      in(LISTENING, "transport", Kind.choice("auto", "nio", "epoll", "io_uring"), "auto")
          .says("I/O transport of the event loops: auto, nio, epoll or io_uring.");

  public static final Setting<Integer> EVENT_LOOPS =
      in(LISTENING, "event-loops", Kind.whole(0, 1024), 0)
          .says("Number of event loop threads; 0 is one per core.");

  public static final Setting<Integer> MODEL_SERVER_PORT =
      in(UPSTREAM, "model-server-port", Kind.PORT, 8200)
          .formerly("vllm-port")
          .says("Port of the decoder on localhost.");

  public static final Setting<List<String>> ENABLE_TLS =
      in(UPSTREAM, "enable-tls", Kind.words("prefiller", "decoder", "encoder"), "")
          .says("Engines to call over TLS: prefiller, decoder, encoder.");

  public static final Setting<List<String>> TLS_INSECURE_SKIP_VERIFY =
      in(UPSTREAM, "tls-insecure-skip-verify", Kind.words("prefiller", "decoder", "encoder"), "")
          .says("Engines whose certificate is not verified: prefiller, decoder, encoder.");

  public static final Setting<String> TLS_CA_FILE =
      in(UPSTREAM, "tls-ca-file", Kind.PATH, "")
          .env("SSL_CERT_FILE")
          .says(
              "PEM file with the CA certificates for engines; by default those of the Java"
                  + " runtime.");

  public static final Setting<Integer> MAX_IDLE_CONNS_PER_HOST =
      in(UPSTREAM, "max-idle-conns-per-host", Kind.count(0), 1024)
          .says("Idle connections kept per host; set it to at least the expected concurrency.");

  public static final Setting<String> KV_CONNECTOR =
      in(
              CONNECTORS,
              "kv-connector",
              Kind.choice(KvConnector.names(), KvConnector.oldNames()),
              KvConnector.NIXL)
          .formerly("connector")
          .says(
              "Connector that transfers the KV cache from prefiller to decoder; --help lists them.");

  public static final Setting<String> EC_CONNECTOR =
      in(CONNECTORS, "ec-connector", Kind.choice("", "ec-example", "ec-nixl"), "")
          .says(
              "How the encoder output is transferred to the prefiller: ec-example or"
                  + " ec-nixl; empty disables the encode stage.");

  public static final Setting<Integer> MOONCAKE_BOOTSTRAP_PORT =
      in(CONNECTORS, "mooncake-bootstrap-port", Kind.PORT, 8998)
          .env("MOONCAKE_BOOTSTRAP_PORT")
          .says("Port of Mooncake's bootstrap server on prefillers.");

  public static final Setting<Integer> SGLANG_BOOTSTRAP_PORT =
      in(CONNECTORS, "sglang-bootstrap-port", Kind.PORT, 8998)
          .env("SGLANG_BOOTSTRAP_PORT")
          .says("Port of SGLang's bootstrap server on prefillers.");

  public static final Setting<Integer> P2P_CONNECTOR_PORT =
      in(CONNECTORS, "p2p-connector-port", Kind.PORT, 7777)
          .env("P2P_CONNECTOR_PORT")
          .says("Port of the offloading connector's peer-to-peer tier; rank i has port+i.");

  public static final Setting<Boolean> ENABLE_P2P_PULL =
      in(CONNECTORS, "enable-p2p-pull", Kind.ON_OFF, false)
          .says("Let a prefiller pull cached blocks from a third engine; only with nixlv2.");

  public static final Setting<Integer> DECODE_CHUNK_SIZE =
      in(CONNECTORS, "decode-chunk-size", Kind.count(0), 0)
          .says(
              "Maximum tokens per decode call, ideally a multiple of the block size; 0 is no"
                  + " limit.");

  public static final Setting<String> POD_IP =
      in(CONNECTORS, "pod-ip", Kind.TEXT, "").env("POD_IP").says("Address of this pod.");

  public static final Setting<Boolean> ENABLE_PREFILLER_SAMPLING =
      in(PREFILL, "enable-prefiller-sampling", Kind.ON_OFF, false)
          .env("ENABLE_PREFILLER_SAMPLING")
          .says("Use a random one of the prefillers that a request names, instead of the first.");

  public static final Setting<Integer> PREFILL_MAX_RETRIES =
      in(PREFILL, "prefill-max-retries", Kind.count(0), 0)
          .says("Number of retries of a prefill that fails with status 502, 503 or 504.");

  public static final Setting<Duration> PREFILL_RETRY_BACKOFF =
      in(PREFILL, "prefill-retry-backoff", Kind.DURATION, "200ms")
          .says("Pause before a prefill is retried.");

  public static final Setting<Duration> PREFILL_TIMEOUT =
      in(PREFILL, "prefill-timeout", Kind.DURATION, "2m")
          .says("Timeout of a prefill before decode, and of a call to an encoder; 0 is no limit.");

  public static final Setting<Duration> PREFILL_LINGER_TIMEOUT =
      in(PREFILL, "prefill-linger-timeout", Kind.DURATION, "10m")
          .says(
              "Time for which a prefill concurrent with decode (sglang, mooncake,"
                  + " offloading) may outlast its request.");

  public static final Setting<Boolean> ENABLE_SSRF_PROTECTION =
      in(ALLOW_LIST, "enable-ssrf-protection", Kind.ON_OFF, false)
          .says(
              "Forward only to allowed hosts; needs inference-pool, allow-target or"
                  + " allow-targets-file.");

  public static final Setting<String> INFERENCE_POOL =
      in(ALLOW_LIST, "inference-pool", Kind.TEXT, "")
          .env("INFERENCE_POOL")
          .says("InferencePool whose pods are allowed, as namespace/name or name.");

  public static final Setting<String> POOL_GROUP =
      in(ALLOW_LIST, "pool-group", Kind.TEXT, "inference.networking.k8s.io")
          .says("API group of the InferencePool.");

  public static final Setting<List<String>> ALLOW_TARGET =
      in(ALLOW_LIST, "allow-target", Kind.words(), "")
          .says("Additional allowed host name, IP or CIDR; may be repeated.");

  public static final Setting<String> ALLOW_TARGETS_FILE =
      in(ALLOW_LIST, "allow-targets-file", Kind.PATH, "")
          .says("File with additional allowed hosts, one per line.");

  public static final Setting<Boolean> MORIIO_WRITE_MODE =
      in(MORIIO, "moriio-write-mode", Kind.ON_OFF, false)
          .says("Prefillers write KV blocks into the decoder's memory; only with nixlv2.");

  public static final Setting<Boolean> MORIIO_PARALLEL_DISPATCH =
      in(MORIIO, "moriio-parallel-dispatch", Kind.ON_OFF, false)
          .says("Start decode together with prefill; needs moriio-write-mode.");

  public static final Setting<Duration> MORIIO_PARALLEL_DECODE_WAIT_TIMEOUT =
      in(MORIIO, "moriio-parallel-decode-wait-timeout", Kind.DURATION, "30s")
          .says("Timeout of a decode that waits for its concurrent prefill.");

  public static final Setting<String> MORIIO_LOCAL_POD_IP =
      in(MORIIO, "moriio-local-pod-ip", Kind.TEXT, "")
          .says("Address at which prefillers reach the decoder; by default pod-ip.");

  public static final Setting<Integer> MORIIO_DECODE_NOTIFY_PORT =
      in(MORIIO, "moriio-decode-notify-port", Kind.PORT, 61005).says("Notify port of the decoder.");

  public static final Setting<Integer> MORIIO_DECODE_HANDSHAKE_PORT =
      in(MORIIO, "moriio-decode-handshake-port", Kind.PORT, 6301)
          .says("Handshake port of the decoder.");

  public static final Setting<Integer> MORIIO_PREFILL_NOTIFY_PORT =
      in(MORIIO, "moriio-prefill-notify-port", Kind.PORT, 61005).says("Notify port of prefillers.");

  public static final Setting<Integer> MORIIO_PREFILL_HANDSHAKE_PORT =
      in(MORIIO, "moriio-prefill-handshake-port", Kind.PORT, 6301)
          .says("Handshake port of prefillers.");

  public static final Setting<Integer> MORIIO_TP_SIZE =
      in(MORIIO, "moriio-tp-size", Kind.count(1), 1).says("Tensor-parallel size of the engines.");

  public static final Setting<Integer> MORIIO_DP_SIZE =
      in(MORIIO, "moriio-dp-size", Kind.count(1), 1).says("Data-parallel size of the engines.");

  public static final Setting<Integer> MORIIO_DP_SIZE_LOCAL =
      in(MORIIO, "moriio-dp-size-local", Kind.count(0), 0).says("Ranks in one pod; 0 is all.");

  public static final Setting<List<String>> MORIIO_REMOTE_HOSTS =
      in(MORIIO, "moriio-remote-hosts", Kind.words(), "")
          .says("Pods of the prefiller, if it has several.");

  public static final Setting<List<String>> MORIIO_DECODE_HOSTS =
      in(MORIIO, "moriio-decode-hosts", Kind.words(), "")
          .says("Pods of the decoder, if it has several.");

  public static final Setting<Integer> MORIIO_DNS_RESOLVE_TTL =
      in(MORIIO, "moriio-dns-resolve-ttl-seconds", Kind.count(1), 30)
          .env("MORIIO_DNS_RESOLVE_TTL_SECONDS")
          .says("Time after which the name of a pod is resolved again.");

  public static final Setting<Integer> MORIIO_DNS_RESOLVE_TIMEOUT =
      in(MORIIO, "moriio-dns-resolve-timeout-seconds", Kind.count(1), 5)
          .env("MORIIO_DNS_RESOLVE_TIMEOUT_SECONDS")
          .says("Timeout for resolving the name of a pod.");

  public static final Setting<Long> BODY_LIMIT =
      in(LIMITS, "body-limit", Kind.size("1", "2047MiB"), "64MiB")
          .says("Maximum size of a request body.");

  public static final Setting<Long> HELD_BODIES_LIMIT =
      in(LIMITS, "held-bodies-limit", Kind.size("1", "1024GiB"), "192MiB")
          .says(
              "Maximum memory of all bodies; the heap needs 64 MiB more than this, direct memory"
                  + " 32 MiB more.");

  public static final Setting<Duration> BODY_TIMEOUT =
      in(LIMITS, "body-timeout", Kind.DURATION, "5m")
          .says("Timeout for receiving the body of a request with prefill; 0 is no limit.");

  public static final Setting<Long> BODY_MIN_RATE =
      in(LIMITS, "body-min-rate", Kind.size("0", "1GiB"), "4KiB")
          .says(
              "Minimum rate of receiving the body of a request with prefill, in bytes/s averaged"
                  + " over 5 s; 0 is no limit.");

  public static final Setting<Integer> JSON_DEPTH_LIMIT =
      in(LIMITS, "json-depth-limit", Kind.whole(1, 10_000), 512)
          .says("Maximum nesting of a JSON body.");

  public static final Setting<Long> MAX_HEADER_BYTES =
      in(LIMITS, "max-header-bytes", Kind.size("1KiB", "64MiB"), "1MiB")
          .says("Maximum size of request headers.");

  public static final Setting<Boolean> TRACING =
      in(OBSERVABILITY, "tracing", Kind.ON_OFF, false)
          .says("Record spans; OTEL_* variables configure their export.");

  public static final Setting<Integer> METRICS_PORT =
      in(OBSERVABILITY, "metrics-port", Kind.whole(0, Kind.MAX_PORT), 0)
          .env("MORIIO_METRICS_ADDR")
          .says(
              "Port of /metrics; 0 disables it. Only the port of the address in the variable is"
                  + " used.");

  public static final Setting<Level> LOG_LEVEL =
      in(OBSERVABILITY, "zap-log-level", Kind.VERBOSITY, "info")
          .also("v")
          .says(
              "Log level: trace, debug, info, warn, error, or a verbosity: 4 is debug, 5 is"
                  + " trace.");

  public static final Setting<String> CONFIGURATION =
      in(SOURCE, "configuration", Kind.TEXT, "")
          .says("Settings as YAML, with the names of the flags as keys.");

  public static final Setting<String> CONFIGURATION_FILE =
      in(SOURCE, "configuration-file", Kind.TEXT, "").says("File with settings as YAML.");

  public static final Setting<Boolean> PREFILLER_USE_TLS =
      in(DEPRECATED, "prefiller-use-tls", Kind.ON_OFF, false)
          .instead("enable-tls=prefiller")
          .says("Call the prefiller over TLS.");

  public static final Setting<Boolean> DECODER_USE_TLS =
      in(DEPRECATED, "decoder-use-tls", Kind.ON_OFF, false)
          .instead("enable-tls=decoder")
          .says("Call the decoder over TLS.");

  public static final Setting<Boolean> PREFILLER_SKIP_VERIFY =
      in(DEPRECATED, "prefiller-tls-insecure-skip-verify", Kind.ON_OFF, false)
          .instead("tls-insecure-skip-verify=prefiller")
          .says("Do not verify the prefiller's certificate.");

  public static final Setting<Boolean> DECODER_SKIP_VERIFY =
      in(DEPRECATED, "decoder-tls-insecure-skip-verify", Kind.ON_OFF, false)
          .instead("tls-insecure-skip-verify=decoder")
          .says("Do not verify the decoder's certificate.");

  public static final Setting<String> INFERENCE_POOL_NAMESPACE =
      in(DEPRECATED, "inference-pool-namespace", Kind.TEXT, "")
          .instead("inference-pool=namespace/name")
          .env("INFERENCE_POOL_NAMESPACE")
          .says("Namespace of the InferencePool.");

  public static final Setting<String> INFERENCE_POOL_NAME =
      in(DEPRECATED, "inference-pool-name", Kind.TEXT, "")
          .instead("inference-pool=namespace/name")
          .env("INFERENCE_POOL_NAME")
          .says("Name of the InferencePool.");

  static {
    List.of(
            "zap-devel",
            "add_dir_header",
            "alsologtostderr",
            "logtostderr",
            "one_output",
            "skip_headers",
            "skip_log_headers")
        .forEach(flag -> in(IGNORED, flag, Kind.ON_OFF, false).says(""));
    List.of(
            "zap-encoder",
            "zap-stacktrace-level",
            "zap-time-encoding",
            "log_backtrace_at",
            "log_dir",
            "log_file",
            "log_file_max_size",
            "stderrthreshold",
            "vmodule")
        .forEach(flag -> in(IGNORED, flag, Kind.TEXT, "").says(""));
  }

  private Settings() {}

  private static <T> Setting<T> in(Group group, String key, Kind<T> kind, Object byDefault) {
    return new Setting<>(group, key, kind, byDefault.toString());
  }

  /** Adds a setting and returns its index. */
  static int add(Setting<?> setting) {
    ALL.add(setting);
    setting.names().forEach(name -> BY_NAME.put(name, setting));
    return ALL.size() - 1;
  }

  /** Returns all settings in the order of declaration. */
  static List<Setting<?>> all() {
    return Collections.unmodifiableList(ALL);
  }

  /** Returns the setting with this current, alternative or old name. */
  static @Nullable Setting<?> named(String name) {
    return BY_NAME.get(name);
  }

  static List<Setting<?>> in(Group group) {
    return ALL.stream().filter(setting -> setting.group == group).toList();
  }
}
