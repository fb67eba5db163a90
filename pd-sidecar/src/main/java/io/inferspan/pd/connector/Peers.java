package io.inferspan.pd.connector;

import io.inferspan.pd.config.SidecarConfig;
import io.inferspan.pd.json.JsonWriter;
import io.inferspan.pd.stage.BodyMembers;
import io.inferspan.pd.stage.DecodeLeg;
import io.inferspan.pd.stage.PdRequest;
import io.inferspan.pd.stage.StageBody;
import io.inferspan.pd.upstream.Target;
import io.netty.util.NetUtil;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The peer-to-peer tiers of other pods: where they listen, and how an engine is told to pull. */
final class Peers {
  private static final String SOURCE = "remote_kv_source";

  private final int firstPeerPort;
  private final int firstProxyPort;
  private final int ranks;
  private final @Nullable String ownHost;

  Peers(SidecarConfig config) {
    this(
        config.connectors().p2pPort(),
        config.listening().port(),
        config.listening().dataParallelSize(),
        config.connectors().podIp());
  }

  /**
   * All pods are taken to be set up as this one.
   *
   * @param firstPeerPort where the tier of rank 0 listens
   * @param firstProxyPort where the sidecar of rank 0 listens
   * @param ranks how many there are
   * @param ownHost this pod's address, or null where unknown
   */
  Peers(int firstPeerPort, int firstProxyPort, int ranks, @Nullable String ownHost) {
    this.firstPeerPort = firstPeerPort;
    this.firstProxyPort = firstProxyPort;
    this.ranks = ranks;
    this.ownHost = ownHost;
  }

  /**
   * The port of the tier that belongs to a sidecar's address; that of rank 0 if it is no rank's.
   */
  int port(Target sidecar) {
    int rank = sidecar.port() - firstProxyPort;
    return rank >= 0 && rank < ranks ? firstPeerPort + rank : firstPeerPort;
  }

  /** Tells prefill to pull what is cached elsewhere, unless that is where it runs. */
  void addSource(JsonWriter params, PdRequest request) {
    String named = request.kvSource();
    Target source = named == null ? null : Target.parse(named);
    if (source != null && !same(source, request.prefiller())) {
      addPeer(params, SOURCE, source, RequestIds.random());
    }
  }

  /** Adds a member that says where the tier of a pod is, and for which request. */
  void addPeer(JsonWriter params, String name, Target sidecar, String requestId) {
    params
        .name(name)
        .beginObject()
        .name("kv_request_id")
        .text(requestId)
        .name("remote_host")
        .text(sidecar.host())
        .name("remote_port")
        .number(port(sidecar))
        .endObject();
  }

  /** Decodes here with blocks from elsewhere; a source that is this very rank is no source. */
  void decode(PdRequest request, String named) {
    Target source = Target.parse(named);
    StageBody body = request.original();
    if (source != null && !isOwn(source, request.rank())) {
      JsonWriter params = new JsonWriter().beginObject();
      addPeer(params, SOURCE, source, RequestIds.random());
      body =
          StageBody.of(
              request
                  .body()
                  .edit()
                  .set(BodyMembers.KV_TRANSFER_PARAMS, params.endObject().toBytes()));
    }
    request.decode(DecodeLeg.of(body).on(request.decoder()));
  }

  private boolean isOwn(Target source, int rank) {
    return ownHost != null && same(source, new Target(ownHost, firstProxyPort + rank));
  }

  /** Whether two addresses are the same, however they are written. */
  static boolean same(Target one, Target other) {
    return one.port() == other.port()
        && (one.host().equalsIgnoreCase(other.host()) || sameAddress(one.host(), other.host()));
  }

  private static boolean sameAddress(String one, String other) {
    byte[] address = NetUtil.createByteArrayFromIpAddressString(one);
    return address != null
        && Arrays.equals(address, NetUtil.createByteArrayFromIpAddressString(other));
  }
}
