package io.inferspan.pd.connector;

import io.inferspan.pd.config.HostText;
import io.inferspan.pd.config.Settings;
import io.inferspan.pd.config.SidecarConfig;
import io.inferspan.pd.json.JsonPieces;
import io.inferspan.pd.json.JsonWriter;
import io.inferspan.pd.request.BodyMembers;
import io.inferspan.pd.request.DecodeLeg;
import io.inferspan.pd.request.PdRequest;
import io.inferspan.pd.upstream.Target;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The peer-to-peer tiers of other pods: their ports, and the parameters for pulling from them.
 * Through the peer-to-peer tier of vLLM's offloading connector, an engine pulls KV blocks from the
 * engine of another pod. Assumes that all pods have this pod's configuration.
 *
 * @param firstPeerPort the port of rank 0's tier
 * @param firstProxyPort the port of rank 0's sidecar
 * @param ranks the number of ranks
 * @param ownHost this pod's address, or null if unknown
 */
record Peers(int firstPeerPort, int firstProxyPort, int ranks, @Nullable String ownHost) {
  private static final String SOURCE = "remote_kv_source";

  Peers(SidecarConfig config) {
    this(
        config.get(Settings.P2P_CONNECTOR_PORT),
        config.get(Settings.PORT),
        config.get(Settings.DATA_PARALLEL_SIZE),
        config.orNull(Settings.POD_IP));
  }

  /**
   * Returns the port of the tier behind a sidecar. The sidecar's port determines the rank; a port
   * of no rank counts as rank 0's.
   */
  int port(Target sidecar) {
    int rank = sidecar.port() - firstProxyPort;
    return rank >= 0 && rank < ranks ? firstPeerPort + rank : firstPeerPort;
  }

  /**
   * Adds the source of cached blocks to prefill's parameters, unless it is the prefill pod itself.
   */
  void addSource(JsonWriter params, PdRequest request) {
    String named = request.decision().kvSource();
    Target source = named == null ? null : Target.parse(named);
    if (source != null && !same(source, request.prefiller())) {
      addPeer(params, SOURCE, source, UUID.randomUUID().toString());
    }
  }

  /** Adds a member with the address of a pod's tier and the id of the request. */
  void addPeer(JsonWriter params, String name, Target sidecar, String requestId) {
    params
        .name(name)
        .beginObject()
        .member("kv_request_id", requestId)
        .member("remote_host", sidecar.host())
        .member("remote_port", port(sidecar))
        .endObject();
  }

  /**
   * Decodes on this pod with blocks that are pulled from the pod {@code named}. If that is this
   * rank itself, or not an address, nothing is pulled.
   */
  void decode(PdRequest request, String named) {
    Target source = Target.parse(named);
    JsonPieces body = request.body().original();
    if (source != null && !isOwn(source, request.exchange().rank())) {
      JsonWriter params = new JsonWriter().beginObject();
      addPeer(params, SOURCE, source, UUID.randomUUID().toString());
      body =
          request
              .body()
              .edit()
              .set(BodyMembers.KV_TRANSFER_PARAMS, params.endObject().toBytes())
              .pieces();
    }
    request.stream(DecodeLeg.of(body).on(request.decision().decoder()));
  }

  private boolean isOwn(Target source, int rank) {
    return ownHost != null && same(source, new Target(ownHost, firstProxyPort + rank));
  }

  /** Returns whether two addresses are the same, ignoring their notation. */
  static boolean same(Target one, Target other) {
    String host = HostText.of(one.host());
    return one.equals(other)
        || (one.port() == other.port() && host != null && host.equals(HostText.of(other.host())));
  }
}
