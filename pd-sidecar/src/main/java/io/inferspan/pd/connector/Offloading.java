package io.inferspan.pd.connector;

import io.inferspan.pd.config.SidecarConfig;
import io.inferspan.pd.json.JsonEdit;
import io.inferspan.pd.json.JsonWriter;
import io.inferspan.pd.stage.BodyMembers;
import io.inferspan.pd.stage.DecodeLeg;
import io.inferspan.pd.stage.PdRequest;
import io.inferspan.pd.stage.PrefillLeg;
import io.inferspan.pd.stage.StageBody;
import java.util.Map;

/**
 * {@code offloading}: both stages run at once, and the decoder's peer-to-peer tier pulls the blocks
 * from the prefill pod's.
 */
public final class Offloading implements Connector {
  private final Peers peers;

  public Offloading(SidecarConfig config) {
    this.peers = new Peers(config);
  }

  @Override
  public String name() {
    return "offloading";
  }

  @Override
  public void serve(PdRequest request) {
    String id = RequestIds.random();
    JsonEdit prefill =
        request.body().edit().set(BodyMembers.KV_TRANSFER_PARAMS, prefillParams(request, id));
    TokenCaps.firstToken(prefill, request);
    JsonWriter params = new JsonWriter().beginObject();
    peers.addPeer(params, "remote_prefiller", request.prefiller(), id);
    JsonEdit decode =
        request.body().edit().set(BodyMembers.KV_TRANSFER_PARAMS, params.endObject().toBytes());
    request.prefill(PrefillLeg.beside(StageBody.of(prefill), Map.of()));
    request.decode(DecodeLeg.of(StageBody.of(decode)));
  }

  private byte[] prefillParams(PdRequest request, String id) {
    JsonWriter params =
        new JsonWriter()
            .beginObject()
            .name("remote_decoder")
            .beginObject()
            .name("kv_request_id")
            .text(id)
            .endObject();
    peers.addSource(params, request);
    return params.endObject().toBytes();
  }

  @Override
  public boolean pulls() {
    return true;
  }

  @Override
  public void decodeWithPull(PdRequest request, String kvSource) {
    peers.decode(request, kvSource);
  }
}
