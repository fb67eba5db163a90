package io.inferspan.pd.config;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What the sidecar was told, checked and complete.
 *
 * @param tracing whether spans are made; where they go is up to {@code OTEL_*}
 * @param logLevel from where on a log line is written
 * @param notes what to tell the user at the start, a sentence each
 */
public record SidecarConfig(
    Listening listening,
    Upstream upstream,
    Connectors connectors,
    Prefill prefill,
    AllowListConfig allowList,
    MoriIo moriIo,
    Limits limits,
    boolean tracing,
    System.Logger.Level logLevel,
    List<String> notes) {

  public SidecarConfig {
    notes = List.copyOf(notes);
  }

  /**
   * Where requests arrive.
   *
   * @param secure whether with TLS
   * @param certPath the folder of {@code tls.crt} and {@code tls.key}; without it the certificate
   *     is self-signed
   * @param metricsPort the port of {@code /metrics}, or 0 for none
   * @param dataParallelSize on how many ports, from {@code port} on
   * @param drainTimeout how long running requests may take after the signal to stop
   * @param eventLoops how many threads serve, or 0 for one per core
   */
  public record Listening(
      int port,
      boolean secure,
      @Nullable Path certPath,
      int metricsPort,
      int dataParallelSize,
      Duration drainTimeout,
      Transport transport,
      int eventLoops) {}

  /** How the event loops talk to the kernel. */
  public enum Transport {
    /** The best there is. */
    AUTO(null),
    NIO("nio"),
    EPOLL("epoll"),
    IO_URING("io_uring");

    private final @Nullable String wireName;

    Transport(@Nullable String wireName) {
      this.wireName = wireName;
    }

    /** What it is called where it is named; null where it is left open. */
    public @Nullable String wireName() {
      return wireName;
    }
  }

  /**
   * Where requests go.
   *
   * @param modelServerPort the port of the decoder on localhost
   * @param tls the stages reached with TLS
   * @param skipVerify the stages whose certificate is not checked
   * @param maxIdlePerHost how many idle connections are kept per host
   */
  public record Upstream(
      int modelServerPort, Set<Stage> tls, Set<Stage> skipVerify, int maxIdlePerHost) {
    public Upstream {
      tls = Set.copyOf(tls);
      skipVerify = Set.copyOf(skipVerify);
    }
  }

  /** A stage of a request that another server does. */
  public enum Stage {
    PREFILLER,
    DECODER,
    ENCODER
  }

  /**
   * How the stages hand over.
   *
   * @param p2pPull whether the prefiller may pull cached blocks from a third engine
   * @param decodeChunkSize how many tokens one decode call may make, or 0 for all
   * @param podIp the address of this pod
   */
  public record Connectors(
      KvConnector kv,
      EcConnector ec,
      int mooncakeBootstrapPort,
      int sglangBootstrapPort,
      int p2pPort,
      boolean p2pPull,
      int decodeChunkSize,
      @Nullable String podIp) {}

  /** How the KV cache gets from prefiller to decoder. */
  public enum KvConnector {
    NIXLV2("nixlv2"),
    SHARED_STORAGE("shared-storage"),
    SGLANG("sglang"),
    MOONCAKE("mooncake"),
    OFFLOADING("offloading");

    private final String wireName;

    KvConnector(String wireName) {
      this.wireName = wireName;
    }

    /** Its name in configurations and attributes. */
    public String wireName() {
      return wireName;
    }
  }

  /** How the encoder cache gets from encoder to prefiller. */
  public enum EcConnector {
    /** There is no encode stage. */
    NONE(""),
    EXAMPLE("ec-example"),
    NIXL("ec-nixl");

    private final String wireName;

    EcConnector(String wireName) {
      this.wireName = wireName;
    }

    /** Its name in configurations and attributes. */
    public String wireName() {
      return wireName;
    }
  }

  /**
   * How the prefill leg is tried.
   *
   * @param sampling whether the candidate is random rather than the first
   * @param maxRetries how often one is tried again after a 502, 503 or 504
   * @param lingerTimeout how long one beside decode may take after its request has ended
   */
  public record Prefill(
      boolean sampling, int maxRetries, Duration retryBackoff, Duration lingerTimeout) {}

  /**
   * Which hosts a request may name.
   *
   * @param enabled whether others are refused
   * @param pool the InferencePool whose pods are allowed
   * @param poolGroup the API group of the pool
   * @param allowedTargets host names, addresses and CIDR blocks that are allowed as well
   * @param allowedTargetsFile a file with more of them, one per line
   */
  public record AllowListConfig(
      boolean enabled,
      @Nullable PoolName pool,
      String poolGroup,
      List<String> allowedTargets,
      @Nullable Path allowedTargetsFile) {
    public AllowListConfig {
      allowedTargets = List.copyOf(allowedTargets);
    }
  }

  /** An InferencePool. */
  public record PoolName(String namespace, String name) {}

  /**
   * MoRI-IO, where the prefiller writes into the decoder's memory.
   *
   * @param localPodIp the address at which prefillers reach the decoder; there in write mode
   * @param parallelDecodeWaitTimeout how long a decode may wait for its prefill
   * @param dpSizeLocal how many ranks one pod has, or 0 for all
   * @param remoteHosts the pods of the prefiller, if it has many
   * @param decodeHosts the pods of the decoder, if it has many
   */
  public record MoriIo(
      boolean writeMode,
      boolean parallelDispatch,
      int decodeNotifyPort,
      int decodeHandshakePort,
      int prefillNotifyPort,
      int prefillHandshakePort,
      @Nullable String localPodIp,
      Duration parallelDecodeWaitTimeout,
      int tpSize,
      int dpSize,
      int dpSizeLocal,
      List<String> remoteHosts,
      List<String> decodeHosts,
      Duration dnsResolveTtl,
      Duration dnsResolveTimeout) {
    public MoriIo {
      remoteHosts = List.copyOf(remoteHosts);
      decodeHosts = List.copyOf(decodeHosts);
    }
  }

  /**
   * How much one request may be.
   *
   * @param heldBodyBytes how much the bodies of all requests may take together
   */
  public record Limits(long bodyBytes, long heldBodyBytes, int jsonDepth, int headerBytes) {}
}
