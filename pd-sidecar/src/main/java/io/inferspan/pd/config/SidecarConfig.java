package io.inferspan.pd.config;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The sidecar's configuration, validated and complete.
 *
 * @param tracing whether spans are recorded; {@code OTEL_*} configures the export
 * @param logLevel the minimum level of log lines
 * @param notes messages for the user at startup, one sentence each
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
   * The listeners.
   *
   * @param secure whether to use TLS
   * @param certPath the folder of {@code tls.crt} and {@code tls.key}; without it the certificate
   *     is self-signed
   * @param metricsPort the port of {@code /metrics}, or 0 for none
   * @param dataParallelSize the number of ports, starting with {@code port}
   * @param drainTimeout the time limit for active requests after the signal to stop
   * @param eventLoops the number of threads, or 0 for one per core
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

  /** The I/O mechanism of the event loops. */
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

    /** Returns its name in settings; null if it is chosen automatically. */
    public @Nullable String wireName() {
      return wireName;
    }
  }

  /**
   * The engines.
   *
   * @param modelServerPort the port of the decoder on localhost
   * @param tls the stages that use TLS
   * @param skipVerify the stages whose certificate is not verified
   * @param caFile the CA certificates; null for those of the Java runtime
   * @param maxIdlePerHost the maximum number of idle connections per host
   */
  public record Upstream(
      int modelServerPort,
      Set<Stage> tls,
      Set<Stage> skipVerify,
      @Nullable Path caFile,
      int maxIdlePerHost) {
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
   * The connectors between the stages.
   *
   * @param p2pPull whether the prefiller may pull cached blocks from a third engine
   * @param decodeChunkSize the maximum number of tokens per decode call, or 0 for no limit
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

  /** The connectors that transfer the encoder cache to the prefiller. */
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
   * Attempts and time limits of prefill.
   *
   * @param sampling whether the candidate is random rather than the first
   * @param maxRetries the number of retries after a 502, 503 or 504
   * @param timeout the time limit of a prefill before decode; zero for none
   * @param lingerTimeout the time limit of a prefill concurrent with decode after its request has
   *     ended
   */
  public record Prefill(
      boolean sampling,
      int maxRetries,
      Duration retryBackoff,
      Duration timeout,
      Duration lingerTimeout) {}

  /**
   * The hosts that a request may name.
   *
   * @param enabled whether other hosts are refused
   * @param pool the InferencePool whose pods are allowed
   * @param poolGroup the API group of the pool
   * @param allowedTargets further allowed host names, addresses and CIDR blocks
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
   * The limits of a request.
   *
   * @param heldBodyBytes the maximum size of all bodies together
   * @param bodyTime the time limit for receiving a body; zero for none
   * @param bodyBytesPerSecond the minimum rate of a body; zero for none
   */
  public record Limits(
      long bodyBytes,
      long heldBodyBytes,
      Duration bodyTime,
      long bodyBytesPerSecond,
      int jsonDepth,
      int headerBytes) {}
}
