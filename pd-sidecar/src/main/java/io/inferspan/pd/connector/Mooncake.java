package io.inferspan.pd.connector;

import io.inferspan.pd.connector.bootstrap.BootstrapEngine;
import io.inferspan.pd.connector.bootstrap.Bootstraps;
import io.inferspan.pd.json.JsonEdit;
import io.inferspan.pd.json.JsonWriter;
import io.inferspan.pd.relay.EngineAnswer;
import io.inferspan.pd.stage.BodyMembers;
import io.inferspan.pd.stage.DecodeLeg;
import io.inferspan.pd.stage.PdRequest;
import io.inferspan.pd.stage.PrefillLeg;
import io.inferspan.pd.stage.StageBody;
import io.inferspan.pd.upstream.Target;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

/**
 * {@code mooncake}: the prefill pod's bootstrap server names its engines; then both stages run at
 * once, and decode reads from the engine that prefill was sent to.
 */
public final class Mooncake implements Connector {
  private static final Duration PATIENCE = Duration.ofSeconds(5);
  private static final String RANK = "X-data-parallel-rank";

  private final int bootstrapPort;
  private final Bootstraps bootstraps = new Bootstraps(PATIENCE);

  /**
   * The connector.
   *
   * @param bootstrapPort where the bootstrap servers of prefill pods listen
   */
  public Mooncake(int bootstrapPort) {
    this.bootstrapPort = bootstrapPort;
  }

  @Override
  public String name() {
    return "mooncake";
  }

  @Override
  public void serve(PdRequest request) {
    Target server = new Target(request.prefiller().host(), bootstrapPort);
    bootstraps
        .engines(server, request.bootstraps(), request.loop())
        .onSuccess(engines -> request.live().guard(() -> serve(request, server, engines)))
        .onFailure(e -> refuse(request, e));
  }

  private static void refuse(PdRequest request, Throwable failure) {
    if (!request.gone()) {
      request.refuse(
          HttpResponseStatus.BAD_GATEWAY, "BadGateway", String.valueOf(failure.getMessage()));
    }
  }

  private void serve(PdRequest request, Target server, List<BootstrapEngine> engines) {
    if (request.gone()) {
      return;
    }
    BootstrapEngine engine = engines.get(ThreadLocalRandom.current().nextInt(engines.size()));
    String transferId = "xfer-" + RequestIds.random();
    JsonEdit prefill =
        request.body().edit().set(BodyMembers.KV_TRANSFER_PARAMS, prefillParams(transferId));
    TokenCaps.firstToken(prefill, request);
    JsonEdit decode =
        request
            .body()
            .edit()
            .set(BodyMembers.KV_TRANSFER_PARAMS, decodeParams(transferId, server, engine));
    request
        .prefill(PrefillLeg.beside(StageBody.of(prefill), Map.of(RANK, engine.rank())))
        .onSuccess(answer -> forgetWhereFailed(server, answer));
    request.decode(DecodeLeg.of(StageBody.of(decode)));
  }

  /** An engine that was started again has another id. */
  private void forgetWhereFailed(Target server, EngineAnswer answer) {
    if (!answer.ok()) {
      bootstraps.forget(server);
    }
  }

  private static byte[] prefillParams(String transferId) {
    return new JsonWriter()
        .beginObject()
        .name("do_remote_prefill")
        .bool(false)
        .name("do_remote_decode")
        .bool(true)
        .name("transfer_id")
        .text(transferId)
        .endObject()
        .toBytes();
  }

  private static byte[] decodeParams(String transferId, Target server, BootstrapEngine engine) {
    return new JsonWriter()
        .beginObject()
        .name("do_remote_prefill")
        .bool(true)
        .name("do_remote_decode")
        .bool(false)
        .name("transfer_id")
        .text(transferId)
        .name("remote_bootstrap_addr")
        .text("http://" + server.authority())
        .name("remote_engine_id")
        .text(engine.id())
        .endObject()
        .toBytes();
  }
}
