package io.inferspan.pd.connector;

import com.google.auto.service.AutoService;
import io.inferspan.pd.config.KvConnector;
import io.inferspan.pd.config.Settings;
import io.inferspan.pd.config.SidecarConfig;
import io.inferspan.pd.json.CachedTokens;
import io.inferspan.pd.json.JsonEdit;
import io.inferspan.pd.json.JsonObject;
import io.inferspan.pd.json.JsonPieces;
import io.inferspan.pd.json.JsonScan;
import io.inferspan.pd.json.JsonValue;
import io.inferspan.pd.json.JsonWriter;
import io.inferspan.pd.request.BodyMembers;
import io.inferspan.pd.request.DecodeLeg;
import io.inferspan.pd.request.PdRequest;
import io.inferspan.pd.request.PrefillLeg;
import io.inferspan.pd.telemetry.Dispatch;
import io.inferspan.pd.upstream.EngineAnswer;
import io.inferspan.pd.upstream.Target;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The connector {@code nixlv2}: prefill runs first, for one token; its response contains the
 * location from which decode reads the KV blocks.
 *
 * <p>In the WRITE mode of MoRI-IO, a transfer library, prefill gets the decoder's address and
 * writes the blocks there. With {@code --moriio-parallel-dispatch}, decode is then sent at the same
 * time.
 */
@AutoService(KvConnector.class)
public final class Nixl implements Connector {
  private static final String REQUEST_ID = "x-request-id";

  private final @Nullable Peers peers;
  private final @Nullable PodAddresses pods;

  /** The common data of both stages of a request. */
  private record Pair(
      PdRequest request,
      Target decoder,
      Map<String, String> headers,
      @Nullable WriteTransfer transfer) {}

  private Nixl(@Nullable Peers peers, @Nullable PodAddresses pods) {
    this.peers = peers;
    this.pods = pods;
  }

  public Nixl() {
    this(null, null);
  }

  @Override
  public Connector configured(SidecarConfig config, PodAddresses pods) {
    return new Nixl(config.get(Settings.ENABLE_P2P_PULL) ? new Peers(config) : null, pods);
  }

  @Override
  public About about() {
    return new About(
        NIXL,
        "prefill, then decode",
        "`kv_transfer_params` of prefill's answer; with --moriio-write-mode the MoRI-IO fields");
  }

  @Override
  public boolean decodesInChunks() {
    return true;
  }

  @Override
  public void serve(PdRequest request) {
    Target decoder = request.decision().decoder();
    if (decoder == null) {
      request.refuseRank();
      return;
    }
    String encoded = request.trace().requestId();
    String id = encoded == null ? RequestIds.timeBased().toString() : encoded;
    WriteTransfer transfer = pods == null ? null : WriteTransfer.begin(request.config(), pods, id);
    Map<String, String> headers = new HashMap<>(transfer == null ? Map.of() : transfer.headers());
    if (encoded == null) {
      request.trace().identify(id);
      headers.put(REQUEST_ID, id);
    }
    Pair pair = new Pair(request, decoder, headers, transfer);
    JsonPieces prefill = prefillBody(request, transfer).pieces();
    if (transfer != null && transfer.parallel()) {
      dispatchBoth(pair, prefill, transfer);
    } else {
      request.ask(PrefillLeg.before(prefill, pair.headers()), answer -> afterPrefill(pair, answer));
    }
  }

  private JsonEdit prefillBody(PdRequest request, @Nullable WriteTransfer transfer) {
    JsonWriter params =
        new JsonWriter()
            .beginObject()
            .member("do_remote_decode", true)
            .member("do_remote_prefill", false)
            .member("remote_engine_id", null)
            .member("remote_block_ids", null)
            .member("remote_port", null)
            .member("remote_host", transfer == null ? null : transfer.decodeHost());
    if (transfer != null) {
      transfer.describeDecoder(params);
    }
    if (peers != null) {
      peers.addSource(params, request);
    }
    JsonEdit edit =
        request.body().edit().set(BodyMembers.KV_TRANSFER_PARAMS, params.endObject().toBytes());
    return TokenCaps.oneToken(edit, request.api());
  }

  private static void dispatchBoth(Pair pair, JsonPieces prefill, WriteTransfer transfer) {
    PdRequest request = pair.request();
    JsonEdit decode =
        request
            .body()
            .edit()
            .set(BodyMembers.KV_TRANSFER_PARAMS, transfer.decodeParams(request.prefiller()));
    ParallelDispatch.start(
        request,
        new PrefillLeg(prefill, pair.headers(), Dispatch.PARALLEL, null),
        new DecodeLeg(decode.pieces(), pair.headers(), pair.decoder(), null, null),
        transfer.timeout());
  }

  private static void afterPrefill(Pair pair, EngineAnswer answer) {
    PdRequest request = pair.request();
    if (!answer.ok()) {
      request.deliver(answer);
      return;
    }
    request.scan(answer.received(), scan -> decode(pair, scan));
  }

  private static void decode(Pair pair, JsonScan scan) {
    PdRequest request = pair.request();
    JsonObject prefilled = scan.object();
    if (prefilled == null) {
      request.refuse(EngineAnswer.badRequest("invalid JSON: " + scan.fault()), "BadRequestError");
      return;
    }
    request.stream(
        new DecodeLeg(
            decodeBody(pair, prefilled).pieces(),
            decodeHeaders(pair, prefilled),
            pair.decoder(),
            CachedTokens.of(prefilled),
            null));
  }

  private static Map<String, String> decodeHeaders(Pair pair, JsonObject prefilled) {
    JsonValue params = prefilled.value(BodyMembers.KV_TRANSFER_PARAMS);
    WriteTransfer transfer = pair.transfer();
    if (transfer == null || params == null || !params.isObject()) {
      return pair.headers();
    }
    Map<String, String> headers = new HashMap<>(pair.headers());
    headers.putAll(transfer.headersAfter(params));
    return headers;
  }

  private static JsonEdit decodeBody(Pair pair, JsonObject prefilled) {
    JsonEdit edit = pair.request().body().edit();
    JsonValue params = prefilled.value(BodyMembers.KV_TRANSFER_PARAMS);
    if (params == null) {
      return edit.set(BodyMembers.KV_TRANSFER_PARAMS, "null");
    }
    edit.set(BodyMembers.KV_TRANSFER_PARAMS, params);
    WriteTransfer transfer = pair.transfer();
    if (transfer != null && params.isObject()) {
      transfer.complete(edit.within(BodyMembers.KV_TRANSFER_PARAMS), params);
    }
    return edit;
  }

  @Override
  public boolean pulls() {
    return peers != null;
  }

  @Override
  public void decodeWithPull(PdRequest request, String kvSource) {
    Objects.requireNonNull(peers).decode(request, kvSource);
  }
}
