package io.inferspan.pd.connector;

import com.google.auto.service.AutoService;
import io.inferspan.pd.config.KvConnector;
import io.inferspan.pd.json.JsonEdit;
import io.inferspan.pd.json.JsonWriter;
import io.inferspan.pd.request.BodyMembers;
import io.inferspan.pd.request.DecodeLeg;
import io.inferspan.pd.request.PdRequest;
import io.inferspan.pd.request.PrefillLeg;
import io.inferspan.pd.telemetry.Dispatch;
import java.util.Map;
import java.util.UUID;

/**
 * The connector {@code offloading}: both stages run concurrently, and the decoder pulls the blocks
 * from the prefill pod's peer-to-peer tier (see {@link Peers}).
 */
@AutoService(KvConnector.class)
public final class Offloading implements Connector {
  @Override
  public About about() {
    return new About("offloading", "prefill and decode concurrently", "`kv_request_id`");
  }

  @Override
  public void serve(PdRequest request) {
    String id = UUID.randomUUID().toString();
    Peers peers = new Peers(request.config());
    JsonEdit prefill =
        request.body().edit().set(BodyMembers.KV_TRANSFER_PARAMS, prefillParams(request, id));
    TokenCaps.firstToken(prefill, request);
    JsonWriter params = new JsonWriter().beginObject();
    peers.addPeer(params, "remote_prefiller", request.prefiller(), id);
    JsonEdit decode =
        request.body().edit().set(BodyMembers.KV_TRANSFER_PARAMS, params.endObject().toBytes());
    request.ask(new PrefillLeg(prefill.pieces(), Map.of(), Dispatch.DETACHED, null), _ -> {});
    request.stream(DecodeLeg.of(decode.pieces()));
  }

  private byte[] prefillParams(PdRequest request, String id) {
    JsonWriter params =
        new JsonWriter()
            .beginObject()
            .name("remote_decoder")
            .beginObject()
            .member("kv_request_id", id)
            .endObject();
    new Peers(request.config()).addSource(params, request);
    return params.endObject().toBytes();
  }

  @Override
  public boolean pulls() {
    return true;
  }

  @Override
  public void decodeWithPull(PdRequest request, String kvSource) {
    new Peers(request.config()).decode(request, kvSource);
  }
}
