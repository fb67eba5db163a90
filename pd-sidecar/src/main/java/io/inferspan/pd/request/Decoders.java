package io.inferspan.pd.request;

import io.inferspan.pd.upstream.Target;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The local decoders, one per data-parallel rank. */
public final class Decoders {
  private static final String LOCAL = "localhost";

  private final int firstPort;
  private final Map<String, Target> byProxyAddress = new HashMap<>();

  /**
   * Creates the decoders of a pod.
   *
   * @param podIp the pod's address, by which a rank may be requested; null if unknown
   * @param proxyPort the listener's port of rank 0
   * @param firstPort the port of the decoder of rank 0
   */
  public Decoders(@Nullable String podIp, int proxyPort, int firstPort, int ranks) {
    this.firstPort = firstPort;
    for (int rank = 0; podIp != null && rank < ranks; rank++) {
      byProxyAddress.put(new Target(podIp, proxyPort + rank).authority(), of(rank));
    }
  }

  public Target of(int rank) {
    return new Target(LOCAL, firstPort + rank);
  }

  /**
   * Returns the decoder that a header requests by its sidecar's address, or null if there is none.
   */
  public @Nullable Target at(String proxyAddress) {
    return byProxyAddress.get(proxyAddress);
  }
}
