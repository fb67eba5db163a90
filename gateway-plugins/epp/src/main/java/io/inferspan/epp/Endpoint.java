package io.inferspan.epp;

import java.util.Map;

/** A snapshot of a pod that may serve a request, taken when the request arrived. */
public final class Endpoint {

  private final String address;
  private final int port;
  private final Map<String, String> labels;
  private final Metrics metrics;
  private final Cache cache;
  // Precomputed, because each scorer uses them as map keys.
  private final String id;
  private final String authority;

  private Endpoint(String namespace, String name, String address, int port) {
    this.address = address;
    this.port = port;
    this.labels = Map.of();
    this.metrics = Metrics.NONE;
    this.cache = Cache.UNKNOWN;
    this.id = namespace + '/' + name;
    this.authority = (address.indexOf(':') >= 0 ? '[' + address + ']' : address) + ':' + port;
  }

  private Endpoint(Endpoint other, Map<String, String> labels, Metrics metrics, Cache cache) {
    this.address = other.address;
    this.port = other.port;
    this.labels = labels;
    this.metrics = metrics;
    this.cache = cache;
    this.id = other.id;
    this.authority = other.authority;
  }

  /** Creates an endpoint without labels and with unknown load. */
  public static Endpoint of(String namespace, String name, String address, int port) {
    if (port < 1 || port > 65535) {
      throw new IllegalArgumentException(
          "the port of endpoint "
              + namespace
              + '/'
              + name
              + " is "
              + port
              + ", but must be 1 to 65535");
    }
    return new Endpoint(namespace, name, address, port);
  }

  /** Returns a copy with these labels. */
  public Endpoint withLabels(Map<String, String> labels) {
    return new Endpoint(this, Map.copyOf(labels), metrics, cache);
  }

  /** Returns a copy with this load. */
  public Endpoint withMetrics(Metrics metrics) {
    return new Endpoint(this, labels, metrics, cache);
  }

  /** Returns a copy with this size of the KV cache. */
  public Endpoint withCache(Cache cache) {
    return new Endpoint(this, labels, metrics, cache);
  }

  /** Returns {@code namespace/name}, which is unique. */
  public String id() {
    return id;
  }

  /** Returns the address, {@code host:port}; an IPv6 host is in brackets. */
  public String authority() {
    return authority;
  }

  /** Returns the host, without brackets. */
  public String address() {
    return address;
  }

  /** Returns the port. */
  public int port() {
    return port;
  }

  /** Returns the pod's labels. */
  public Map<String, String> labels() {
    return labels;
  }

  /** Returns the pod's load. */
  public Metrics metrics() {
    return metrics;
  }

  /** Returns the size of the pod's KV cache. */
  public Cache cache() {
    return cache;
  }

  @Override
  public String toString() {
    return id;
  }

  /**
   * The load of a pod.
   *
   * @param waitingRequests requests in the engine's queue
   * @param runningRequests requests that the engine is computing
   * @param kvCacheUsage share of the KV cache in use, 0 to 1
   * @param activeRequests requests that the gateway has sent and that have not ended
   * @param activeTokens tokens of those requests
   */
  public record Metrics(
      int waitingRequests,
      int runningRequests,
      double kvCacheUsage,
      int activeRequests,
      long activeTokens) {

    /** No load, or unknown load. */
    public static final Metrics NONE = new Metrics(0, 0, 0, 0, 0);
  }

  /**
   * The size of a pod's KV cache as its engine's metrics report it; 0 if unknown.
   *
   * @param blockTokens tokens in a block
   * @param blocks capacity in blocks
   */
  public record Cache(int blockTokens, int blocks) {

    /** A cache of unknown size. */
    public static final Cache UNKNOWN = new Cache(0, 0);
  }
}
