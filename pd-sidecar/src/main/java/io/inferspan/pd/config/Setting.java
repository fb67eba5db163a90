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
import static io.inferspan.pd.config.Spec.choice;
import static io.inferspan.pd.config.Spec.count;
import static io.inferspan.pd.config.Spec.duration;
import static io.inferspan.pd.config.Spec.onOff;
import static io.inferspan.pd.config.Spec.port;
import static io.inferspan.pd.config.Spec.size;
import static io.inferspan.pd.config.Spec.text;
import static io.inferspan.pd.config.Spec.typed;
import static io.inferspan.pd.config.Spec.whole;
import static io.inferspan.pd.config.Spec.words;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Every setting, declared once: flags, YAML, environment, help and {@code SETTINGS.md} follow from
 * here.
 */
enum Setting {
  PORT(LISTENING, whole("port", 8000, 0, Kind.MAX_PORT), "Port for requests; 0 is a free one."),
  DATA_PARALLEL_SIZE(
      LISTENING,
      whole("data-parallel-size", 1, 1, Kind.MAX_PORT),
      "Ranks served: rank i listens on port+i and decodes on model-server-port+i."),
  SECURE_PROXY(
      LISTENING,
      onOff("secure-proxy", true).also("secure-serving"),
      "Whether requests arrive with TLS."),
  CERT_PATH(
      LISTENING,
      text("cert-path", ""),
      "Folder with tls.crt and tls.key, watched for changes; without it the certificate is"
          + " self-signed."),
  SHUTDOWN_TIMEOUT(
      LISTENING,
      duration("shutdown-timeout", "60s"),
      "How long running requests may take after the signal to stop."),
  TRANSPORT(
      LISTENING,
      choice("transport", "auto", "auto", "nio", "epoll", "io_uring"),
      "How event loops talk to the kernel: auto, nio, epoll or io_uring."),
  EVENT_LOOPS(
      LISTENING, whole("event-loops", 0, 0, 1024), "Threads that serve; 0 is one per core."),

  MODEL_SERVER_PORT(
      UPSTREAM,
      port("model-server-port", 8200).formerly("vllm-port"),
      "Port of the decoder on localhost."),
  ENABLE_TLS(
      UPSTREAM,
      words("enable-tls", "prefiller", "decoder", "encoder"),
      "Stages reached with TLS: prefiller, decoder, encoder."),
  TLS_INSECURE_SKIP_VERIFY(
      UPSTREAM,
      words("tls-insecure-skip-verify", "prefiller", "decoder", "encoder"),
      "Stages whose certificate is not checked."),
  TLS_CA_FILE(
      UPSTREAM,
      text("tls-ca-file", "").env("SSL_CERT_FILE"),
      "PEM file with the authorities to trust for engines; without it the Java runtime's."),
  MAX_IDLE_CONNS_PER_HOST(
      UPSTREAM,
      count("max-idle-conns-per-host", 1024, 0),
      "Idle connections kept per host; at least the expected concurrency."),

  KV_CONNECTOR(
      CONNECTORS,
      typed(
              "kv-connector",
              Kind.choice(KvConnector.names(), KvConnector.oldNames()),
              KvConnector.NIXL)
          .formerly("connector"),
      "How the KV cache gets from prefiller to decoder: "
          + String.join(", ", KvConnector.names())
          + "."),
  EC_CONNECTOR(
      CONNECTORS,
      choice("ec-connector", "", "", "ec-example", "ec-nixl"),
      "How the encoder cache gets to the prefiller: ec-example or ec-nixl; empty is no"
          + " encode stage."),
  MOONCAKE_BOOTSTRAP_PORT(
      CONNECTORS,
      port("mooncake-bootstrap-port", 8998).env("MOONCAKE_BOOTSTRAP_PORT"),
      "Port of Mooncake's bootstrap server on prefillers."),
  SGLANG_BOOTSTRAP_PORT(
      CONNECTORS,
      port("sglang-bootstrap-port", 8998).env("SGLANG_BOOTSTRAP_PORT"),
      "Port of SGLang's bootstrap server on prefillers."),
  P2P_CONNECTOR_PORT(
      CONNECTORS,
      port("p2p-connector-port", 7777).env("P2P_CONNECTOR_PORT"),
      "Port of the offloading connector's peer-to-peer tier; rank i has port+i."),
  ENABLE_P2P_PULL(
      CONNECTORS,
      onOff("enable-p2p-pull", false),
      "Whether a prefiller may pull cached blocks from a third engine; only with nixlv2."),
  DECODE_CHUNK_SIZE(
      CONNECTORS,
      count("decode-chunk-size", 0, 0),
      "Tokens that one decode call may make, best a multiple of the block size; 0 is all."),
  POD_IP(CONNECTORS, text("pod-ip", "").env("POD_IP"), "Address of this pod."),

  ENABLE_PREFILLER_SAMPLING(
      PREFILL,
      onOff("enable-prefiller-sampling", false).env("ENABLE_PREFILLER_SAMPLING"),
      "Whether the prefiller is a random candidate, not the first."),
  PREFILL_MAX_RETRIES(
      PREFILL,
      count("prefill-max-retries", 0, 0),
      "How often a prefill is tried again after a 502, 503 or 504."),
  PREFILL_RETRY_BACKOFF(
      PREFILL,
      duration("prefill-retry-backoff", "200ms"),
      "Pause before a prefill is tried again."),
  PREFILL_TIMEOUT(
      PREFILL,
      duration("prefill-timeout", "2m"),
      "How long prefill before decode, or a call to an encoder, may take; 0 is any time."),
  PREFILL_LINGER_TIMEOUT(
      PREFILL,
      duration("prefill-linger-timeout", "10m"),
      "How long a prefill concurrent with decode (sglang, mooncake, offloading) may take after its"
          + " request has ended."),

  ENABLE_SSRF_PROTECTION(
      ALLOW_LIST,
      onOff("enable-ssrf-protection", false),
      "Whether requests may name only allowed hosts; needs inference-pool, allow-target or"
          + " allow-targets-file."),
  INFERENCE_POOL(
      ALLOW_LIST,
      text("inference-pool", "").env("INFERENCE_POOL"),
      "InferencePool whose pods are allowed, as namespace/name or name."),
  POOL_GROUP(
      ALLOW_LIST,
      text("pool-group", "inference.networking.k8s.io"),
      "API group of the InferencePool."),
  ALLOW_TARGET(
      ALLOW_LIST,
      words("allow-target"),
      "Host name, IP or CIDR that is allowed as well; may be repeated."),
  ALLOW_TARGETS_FILE(
      ALLOW_LIST, text("allow-targets-file", ""), "File with more of them, one per line."),

  MORIIO_WRITE_MODE(
      MORIIO,
      onOff("moriio-write-mode", false),
      "Whether prefillers write into the decoder's memory; only with nixlv2."),
  MORIIO_PARALLEL_DISPATCH(
      MORIIO,
      onOff("moriio-parallel-dispatch", false),
      "Whether decode starts together with prefill; needs moriio-write-mode."),
  MORIIO_PARALLEL_DECODE_WAIT_TIMEOUT(
      MORIIO,
      duration("moriio-parallel-decode-wait-timeout", "30s"),
      "How long a decode may then wait for its prefill."),
  MORIIO_LOCAL_POD_IP(
      MORIIO,
      text("moriio-local-pod-ip", ""),
      "Address at which prefillers reach the decoder; the pod-ip if not set."),
  MORIIO_DECODE_NOTIFY_PORT(
      MORIIO, port("moriio-decode-notify-port", 61005), "Notify port of the decoder."),
  MORIIO_DECODE_HANDSHAKE_PORT(
      MORIIO, port("moriio-decode-handshake-port", 6301), "Handshake port of the decoder."),
  MORIIO_PREFILL_NOTIFY_PORT(
      MORIIO, port("moriio-prefill-notify-port", 61005), "Notify port of prefillers."),
  MORIIO_PREFILL_HANDSHAKE_PORT(
      MORIIO, port("moriio-prefill-handshake-port", 6301), "Handshake port of prefillers."),
  MORIIO_TP_SIZE(MORIIO, count("moriio-tp-size", 1, 1), "Tensor-parallel size of the engines."),
  MORIIO_DP_SIZE(MORIIO, count("moriio-dp-size", 1, 1), "Data-parallel size of the engines."),
  MORIIO_DP_SIZE_LOCAL(MORIIO, count("moriio-dp-size-local", 0, 0), "Ranks in one pod; 0 is all."),
  MORIIO_REMOTE_HOSTS(
      MORIIO, words("moriio-remote-hosts"), "Pods of the prefiller, if it has many."),
  MORIIO_DECODE_HOSTS(MORIIO, words("moriio-decode-hosts"), "Pods of the decoder, if it has many."),
  MORIIO_DNS_RESOLVE_TTL(
      MORIIO,
      count("moriio-dns-resolve-ttl-seconds", 30, 1).env("MORIIO_DNS_RESOLVE_TTL_SECONDS"),
      "How long the address of a pod that is configured by name is used before it is looked up"
          + " again."),
  MORIIO_DNS_RESOLVE_TIMEOUT(
      MORIIO,
      count("moriio-dns-resolve-timeout-seconds", 5, 1).env("MORIIO_DNS_RESOLVE_TIMEOUT_SECONDS"),
      "How long such a look-up may take."),

  BODY_LIMIT(LIMITS, size("body-limit", "64MiB", "1", "2047MiB"), "Largest request body."),
  HELD_BODIES_LIMIT(
      LIMITS,
      size("held-bodies-limit", "192MiB", "1", "1024GiB"),
      "Memory of all bodies; the heap needs 64 MiB more, direct memory 32 MiB more."),
  BODY_TIMEOUT(
      LIMITS,
      duration("body-timeout", "5m"),
      "How long the body of a request with prefill may take; 0 is any time."),
  BODY_MIN_RATE(
      LIMITS,
      size("body-min-rate", "4KiB", "0", "1GiB"),
      "Least bytes per second of such a body, averaged over 5 s; 0 is any rate."),
  JSON_DEPTH_LIMIT(LIMITS, whole("json-depth-limit", 512, 1, 10_000), "Deepest nesting of a body."),
  MAX_HEADER_BYTES(
      LIMITS, size("max-header-bytes", "1MiB", "1KiB", "64MiB"), "Largest request head."),

  TRACING(
      OBSERVABILITY,
      onOff("tracing", false),
      "Whether spans are made: --tracing switches them on, OTEL_* says where they go."),
  METRICS_PORT(
      OBSERVABILITY,
      whole("metrics-port", 0, 0, Kind.MAX_PORT).env("MORIIO_METRICS_ADDR"),
      "Port of /metrics; 0 is none. The variable holds an address, of which the port counts."),
  LOG_LEVEL(
      OBSERVABILITY,
      typed("zap-log-level", Kind.VERBOSITY, "info").also("v"),
      "Log level: trace, debug, info, warn, error, or a verbosity: 4 is debug, 5 is trace."),

  CONFIGURATION(
      SOURCE,
      text("configuration", "").asOnlyFlag(),
      "These settings as YAML, with the flags' names as keys; flags win."),
  CONFIGURATION_FILE(
      SOURCE, text("configuration-file", "").asOnlyFlag(), "File with that YAML instead."),

  PREFILLER_USE_TLS(
      DEPRECATED,
      onOff("prefiller-use-tls", false).instead("enable-tls=prefiller"),
      "TLS to the prefiller."),
  DECODER_USE_TLS(
      DEPRECATED,
      onOff("decoder-use-tls", false).instead("enable-tls=decoder"),
      "TLS to the decoder."),
  PREFILLER_SKIP_VERIFY(
      DEPRECATED,
      onOff("prefiller-tls-insecure-skip-verify", false)
          .instead("tls-insecure-skip-verify=prefiller"),
      "No check of the prefiller's certificate."),
  DECODER_SKIP_VERIFY(
      DEPRECATED,
      onOff("decoder-tls-insecure-skip-verify", false).instead("tls-insecure-skip-verify=decoder"),
      "No check of the decoder's certificate."),
  INFERENCE_POOL_NAMESPACE(
      DEPRECATED,
      text("inference-pool-namespace", "")
          .instead("inference-pool=namespace/name")
          .env("INFERENCE_POOL_NAMESPACE"),
      "Namespace of the InferencePool."),
  INFERENCE_POOL_NAME(
      DEPRECATED,
      text("inference-pool-name", "")
          .instead("inference-pool=namespace/name")
          .env("INFERENCE_POOL_NAME"),
      "Name of the InferencePool."),

  ZAP_DEVEL(IGNORED, onOff("zap-devel", false), ""),
  ZAP_ENCODER(IGNORED, text("zap-encoder", ""), ""),
  ZAP_STACKTRACE_LEVEL(IGNORED, text("zap-stacktrace-level", ""), ""),
  ZAP_TIME_ENCODING(IGNORED, text("zap-time-encoding", ""), ""),
  KLOG_ADD_DIR_HEADER(IGNORED, onOff("add_dir_header", false), ""),
  KLOG_ALSO_TO_STDERR(IGNORED, onOff("alsologtostderr", false), ""),
  KLOG_BACKTRACE_AT(IGNORED, text("log_backtrace_at", ""), ""),
  KLOG_DIR(IGNORED, text("log_dir", ""), ""),
  KLOG_FILE(IGNORED, text("log_file", ""), ""),
  KLOG_FILE_MAX_SIZE(IGNORED, text("log_file_max_size", ""), ""),
  KLOG_TO_STDERR(IGNORED, onOff("logtostderr", false), ""),
  KLOG_ONE_OUTPUT(IGNORED, onOff("one_output", false), ""),
  KLOG_SKIP_HEADERS(IGNORED, onOff("skip_headers", false), ""),
  KLOG_SKIP_LOG_HEADERS(IGNORED, onOff("skip_log_headers", false), ""),
  KLOG_STDERR_THRESHOLD(IGNORED, text("stderrthreshold", ""), ""),
  KLOG_VMODULE(IGNORED, text("vmodule", ""), "");

  /** The groups of settings; each is a heading in the help. */
  enum Group {
    LISTENING("Where requests arrive"),
    UPSTREAM("Where requests go"),
    CONNECTORS("How stages hand over"),
    PREFILL("Prefill"),
    ALLOW_LIST("Which hosts a request may name"),
    MORIIO("MoRI-IO"),
    LIMITS("Limits"),
    OBSERVABILITY("Traces, metrics, logs"),
    SOURCE("Configuration"),
    DEPRECATED("Deprecated"),
    /** Flags of Go's loggers, which pod specs carry and which mean nothing here. */
    IGNORED("Accepted and ignored");

    private final String title;

    Group(String title) {
      this.title = title;
    }

    String title() {
      return title;
    }
  }

  private static final Map<String, Setting> BY_NAME = byName();

  private final Group group;

  @SuppressWarnings("ImmutableEnumChecker") // records of records and immutable lists
  private final Spec spec;

  private final String sentence;

  Setting(Group group, Spec spec, String sentence) {
    this.group = group;
    this.spec = spec;
    this.sentence = sentence;
  }

  private static Map<String, Setting> byName() {
    Map<String, Setting> settings = new HashMap<>();
    for (Setting setting : values()) {
      for (String name : setting.names()) {
        settings.put(name, setting);
      }
    }
    return settings;
  }

  /** The setting of that current, second or old name. */
  static @Nullable Setting named(String name) {
    return BY_NAME.get(name);
  }

  /** The settings of a group, in the order of the declaration. */
  static List<Setting> in(Group group) {
    List<Setting> settings = new ArrayList<>();
    for (Setting setting : values()) {
      if (setting.group == group) {
        settings.add(setting);
      }
    }
    return settings;
  }

  Group group() {
    return group;
  }

  Spec spec() {
    return spec;
  }

  /** Returns its name, which is that of the flag and of the YAML key. */
  String key() {
    return spec.name();
  }

  Kind kind() {
    return spec.kind();
  }

  String sentence() {
    return sentence;
  }

  /** Returns whether it is accepted and ignored. */
  boolean isIgnored() {
    return group == Group.IGNORED;
  }

  /** Returns whether it may be set in YAML. */
  boolean isYamlKey() {
    return !spec.onlyFlag() && !isIgnored();
  }

  /** Its names, the better ones first. */
  List<String> names() {
    List<String> names = new ArrayList<>();
    names.add(spec.name());
    if (spec.also() != null) {
      names.add(spec.also());
    }
    if (spec.formerly() != null) {
      names.add(spec.formerly());
    }
    return names;
  }

  /** The flag to write instead of {@code name}, or null where the name is a current one. */
  @Nullable String insteadOf(String name) {
    return name.equals(spec.formerly()) ? spec.name() : spec.instead();
  }
}
