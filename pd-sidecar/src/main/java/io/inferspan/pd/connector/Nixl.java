package io.inferspan.pd.connector;

import io.inferspan.pd.config.SidecarConfig;
import io.inferspan.pd.config.SidecarConfig.Limits;
import io.inferspan.pd.connector.moriio.ParallelDispatch;
import io.inferspan.pd.connector.moriio.PodAddresses;
import io.inferspan.pd.connector.moriio.WriteMode;
import io.inferspan.pd.connector.moriio.WriteTransfer;
import io.inferspan.pd.json.InvalidJson;
import io.inferspan.pd.json.JsonEdit;
import io.inferspan.pd.json.JsonKind;
import io.inferspan.pd.json.JsonObject;
import io.inferspan.pd.json.JsonShape;
import io.inferspan.pd.json.JsonValue;
import io.inferspan.pd.json.JsonWriter;
import io.inferspan.pd.relay.EngineAnswer;
import io.inferspan.pd.sse.CachedTokens;
import io.inferspan.pd.stage.BodyMembers;
import io.inferspan.pd.stage.DecodeLeg;
import io.inferspan.pd.stage.PdRequest;
import io.inferspan.pd.stage.PrefillLeg;
import io.inferspan.pd.stage.StageBody;
import io.inferspan.pd.upstream.Target;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * {@code nixlv2}: prefill first, for one token; its answer says where decode reads the KV blocks.
 *
 * <p>In MoRI-IO's WRITE mode prefill is told where to write them instead, and decode need not wait.
 */
public final class Nixl implements Connector {
  private static final String REQUEST_ID = "x-request-id";
  private static final JsonShape ANSWER = JsonShape.of(BodyMembers.KV_TRANSFER_PARAMS, "usage");

  private final Limits limits;
  private final @Nullable Peers peers;
  private final @Nullable WriteMode write;

  /** What both stages of one request have in common. */
  private record Pair(
      PdRequest request,
      Target decoder,
      Map<String, String> headers,
      @Nullable WriteTransfer transfer) {}

  private Nixl(Limits limits, @Nullable Peers peers, @Nullable WriteMode write) {
    this.limits = limits;
    this.peers = peers;
    this.write = write;
  }

  static Nixl of(SidecarConfig config, PodAddresses pods) {
    return new Nixl(
        config.limits(),
        config.connectors().p2pPull() ? new Peers(config) : null,
        WriteMode.of(config.moriIo(), pods));
  }

  @Override
  public String name() {
    return "nixlv2";
  }

  @Override
  public void serve(PdRequest request) {
    Target decoder = request.decoder();
    if (decoder == null) {
      request.refuse(HttpResponseStatus.BAD_REQUEST);
      return;
    }
    String id = RequestIds.timeBased().toString();
    request.identify(id);
    WriteTransfer transfer = write == null ? null : write.begin(id);
    Pair pair = new Pair(request, decoder, headers(id, transfer), transfer);
    StageBody prefill = StageBody.of(prefillBody(request, transfer));
    if (transfer != null && transfer.parallel()) {
      dispatchBoth(pair, prefill, transfer);
    } else {
      request
          .prefill(PrefillLeg.before(prefill, pair.headers()))
          .onSuccess(answer -> afterPrefill(pair, answer));
    }
  }

  private static Map<String, String> headers(String id, @Nullable WriteTransfer transfer) {
    Map<String, String> headers = new HashMap<>(transfer == null ? Map.of() : transfer.headers());
    headers.put(REQUEST_ID, id);
    return headers;
  }

  private JsonEdit prefillBody(PdRequest request, @Nullable WriteTransfer transfer) {
    JsonWriter params =
        new JsonWriter()
            .beginObject()
            .name("do_remote_decode")
            .bool(true)
            .name("do_remote_prefill")
            .bool(false)
            .name("remote_engine_id")
            .nothing()
            .name("remote_block_ids")
            .nothing()
            .name("remote_port")
            .nothing()
            .name("remote_host");
    if (transfer == null) {
      params.nothing();
    } else {
      transfer.describeDecoder(params.text(transfer.decodeHost()));
    }
    if (peers != null) {
      peers.addSource(params, request);
    }
    JsonEdit edit =
        request.body().edit().set(BodyMembers.KV_TRANSFER_PARAMS, params.endObject().toBytes());
    return TokenCaps.oneToken(edit, request.api());
  }

  private static void dispatchBoth(Pair pair, StageBody prefill, WriteTransfer transfer) {
    PdRequest request = pair.request();
    JsonEdit decode =
        request
            .body()
            .edit()
            .set(BodyMembers.KV_TRANSFER_PARAMS, transfer.decodeParams(request.prefiller()));
    ParallelDispatch.start(
        request,
        PrefillLeg.parallel(prefill, pair.headers()),
        DecodeLeg.of(StageBody.of(decode)).with(pair.headers()).on(pair.decoder()),
        transfer.patience());
  }

  private void afterPrefill(Pair pair, EngineAnswer answer) {
    PdRequest request = pair.request();
    if (!answer.ok()) {
      request.deliver(answer);
      return;
    }
    JsonObject prefilled;
    try {
      prefilled = JsonObject.scan(answer.body(), ANSWER, limits.jsonDepth());
    } catch (InvalidJson e) {
      request.refuse(
          HttpResponseStatus.BAD_REQUEST, "BadRequestError", "invalid JSON: " + e.getMessage());
      return;
    }
    long cached = CachedTokens.of(prefilled);
    request.decode(
        DecodeLeg.of(StageBody.of(decodeBody(pair, prefilled)))
            .with(decodeHeaders(pair, prefilled))
            .on(pair.decoder())
            .rewritten(head -> CachedTokensFilter.of(head, cached, limits.bodyBytes())));
  }

  private static Map<String, String> decodeHeaders(Pair pair, JsonObject prefilled) {
    JsonValue params = prefilled.value(BodyMembers.KV_TRANSFER_PARAMS);
    WriteTransfer transfer = pair.transfer();
    if (transfer == null || params == null || params.kind() != JsonKind.OBJECT) {
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
    if (transfer != null && params.kind() == JsonKind.OBJECT) {
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
    if (peers == null) {
      request.decode(DecodeLeg.of(request.original()).on(request.decoder()));
    } else {
      peers.decode(request, kvSource);
    }
  }
}
