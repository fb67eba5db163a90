package io.inferspan.pd.connector;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.inferspan.pd.config.Settings;
import io.inferspan.pd.config.SidecarConfig;
import io.inferspan.pd.json.JsonEdit;
import io.inferspan.pd.json.JsonValue;
import io.inferspan.pd.json.JsonWriter;
import io.inferspan.pd.upstream.Target;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The transfer of one request's KV blocks in MoRI-IO's WRITE mode: the addresses, ports and ranks
 * by which prefill and decode reach each other.
 */
public final class WriteTransfer {
  private static final String RANK_HEADER = "x-data-parallel-rank";
  private static final String RANK = "remote_dp_rank";

  private final SidecarConfig settings;
  private final PodAddresses pods;
  private final String decodeHost;
  private final String transferId;
  private final int rank;

  private WriteTransfer(
      SidecarConfig settings, PodAddresses pods, String decodeHost, String requestId) {
    this.settings = settings;
    this.pods = pods;
    this.decodeHost = pods.of(decodeHost);
    // Engines recognise transfer ids by this prefix.
    this.transferId = "tx" + requestId;
    this.rank = rank(requestId, settings.get(Settings.MORIIO_DP_SIZE));
  }

  /** Begins the transfer of a request; returns null if WRITE mode is off. */
  public static @Nullable WriteTransfer begin(
      SidecarConfig settings, PodAddresses pods, String requestId) {
    String host = settings.get(Settings.MORIIO_WRITE_MODE) ? settings.localPodIp() : null;
    return host == null ? null : new WriteTransfer(settings, pods, host, requestId);
  }

  /** Returns the data-parallel rank of a request, which is the same on every pod. */
  static int rank(String requestId, int ranks) {
    long hash = ByteBuffer.wrap(Blake2s.hash(requestId.getBytes(UTF_8))).getLong();
    return (int) Long.remainderUnsigned(hash, ranks);
  }

  /** Returns whether both stages are dispatched concurrently. */
  public boolean parallel() {
    return settings.get(Settings.MORIIO_PARALLEL_DISPATCH);
  }

  /** Returns how long decode waits for a prefill that was dispatched with it. */
  public Duration timeout() {
    return settings.get(Settings.MORIIO_PARALLEL_DECODE_WAIT_TIMEOUT);
  }

  /** Returns the headers that select the request's rank; none if engines have only one. */
  public Map<String, String> headers() {
    return headers(rank);
  }

  /**
   * Returns the headers that select decode's rank: the rank in the parameters that prefill {@code
   * returned}, or else the request's own.
   */
  public Map<String, String> headersAfter(JsonValue returned) {
    return headers(rankAfter(returned));
  }

  private Map<String, String> headers(long rank) {
    if (settings.get(Settings.MORIIO_DP_SIZE) <= 1) {
      return Map.of();
    }
    // In HTTP headers, ranks are numbered within the pod.
    long local =
        settings.get(Settings.MORIIO_DP_SIZE_LOCAL) > 0
            ? rank % settings.get(Settings.MORIIO_DP_SIZE_LOCAL)
            : rank;
    return Map.of(RANK_HEADER, Long.toString(local));
  }

  private long rankAfter(JsonValue returned) {
    JsonValue named = returned.member(RANK);
    long prefilledOn = named == null ? -1 : named.longValue(-1);
    return prefilledOn >= 0 && prefilledOn < settings.get(Settings.MORIIO_DP_SIZE)
        ? prefilledOn
        : rank;
  }

  /** Returns the host at which the prefill pod reaches the decoder. */
  public String decodeHost() {
    return decodeHost;
  }

  /** Adds the destination of the blocks to prefill's parameters. */
  public void describeDecoder(JsonWriter params) {
    members(
            settings.get(Settings.MORIIO_DECODE_NOTIFY_PORT),
            settings.get(Settings.MORIIO_DECODE_HANDSHAKE_PORT),
            settings.get(Settings.MORIIO_DECODE_HOSTS))
        .forEach((name, json) -> params.name(name).raw(json));
  }

  /**
   * Returns the {@code kv_transfer_params} for a decode that starts before prefill has responded.
   */
  public byte[] decodeParams(Target prefiller) {
    int port = settings.get(Settings.MORIIO_PREFILL_HANDSHAKE_PORT);
    JsonWriter params =
        new JsonWriter()
            .beginObject()
            .member("do_remote_prefill", true)
            .member("do_remote_decode", false)
            .member("remote_engine_id", new Target(prefiller.host(), port).authority())
            .name("remote_block_ids")
            .beginArray()
            .endArray()
            .member("remote_host", prefiller.host())
            .member("remote_port", port);
    ofPrefiller().forEach((name, json) -> params.name(name).raw(json));
    return params.endObject().toBytes();
  }

  /** Adds missing members to the parameters that prefill returned, and sets the rank. */
  public void complete(JsonEdit params, JsonValue returned) {
    ofPrefiller()
        .forEach(
            (name, json) -> {
              if (returned.member(name) == null) {
                params.set(name, json);
              }
            });
    params.set(RANK, rankAfter(returned)).set("remote_dp_rank_override", true);
  }

  private Map<String, String> ofPrefiller() {
    return members(
        settings.get(Settings.MORIIO_PREFILL_NOTIFY_PORT),
        settings.get(Settings.MORIIO_PREFILL_HANDSHAKE_PORT),
        settings.get(Settings.MORIIO_REMOTE_HOSTS));
  }

  /**
   * Returns the members that describe the prefill side or the decode side (ports, hosts, sizes,
   * rank), as JSON by name.
   */
  private Map<String, String> members(int notifyPort, int handshakePort, List<String> hosts) {
    Map<String, String> members = new LinkedHashMap<>();
    members.put("remote_notify_port", Integer.toString(notifyPort));
    members.put(RANK, Integer.toString(rank));
    members.put("remote_dp_rank_override", "true");
    members.put("remote_handshake_port", Integer.toString(handshakePort));
    members.put("transfer_id", new JsonWriter().text(transferId).toString());
    members.put("tp_size", Integer.toString(settings.get(Settings.MORIIO_TP_SIZE)));
    members.put("remote_dp_size", Integer.toString(settings.get(Settings.MORIIO_DP_SIZE)));
    if (!hosts.isEmpty()) {
      JsonWriter list = new JsonWriter().beginArray();
      hosts.forEach(host -> list.text(pods.of(host)));
      members.put("remote_hosts", list.endArray().toString());
      if (settings.get(Settings.MORIIO_DP_SIZE_LOCAL) > 0) {
        members.put(
            "remote_dp_size_local", Integer.toString(settings.get(Settings.MORIIO_DP_SIZE_LOCAL)));
      }
    }
    return members;
  }
}
