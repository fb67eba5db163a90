package io.inferspan.pd.connector;

import com.google.auto.service.AutoService;
import io.inferspan.pd.config.KvConnector;
import io.inferspan.pd.config.Settings;
import io.inferspan.pd.config.SidecarConfig;
import io.inferspan.pd.json.JsonEdit;
import io.inferspan.pd.json.JsonWriter;
import io.inferspan.pd.request.BodyMembers;
import io.inferspan.pd.request.DecodeLeg;
import io.inferspan.pd.request.PdRequest;
import io.inferspan.pd.request.PrefillLeg;
import io.inferspan.pd.telemetry.Dispatch;
import io.inferspan.pd.upstream.EngineAnswer;
import io.inferspan.pd.upstream.Target;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The connector {@code mooncake}: the prefill pod's bootstrap server returns the engines of the
 * pod. Then both stages run concurrently, and decode reads the KV blocks from the engine that runs
 * prefill.
 */
@AutoService(KvConnector.class)
public final class Mooncake implements Connector {
  private static final Duration TIMEOUT = Duration.ofSeconds(5);
  private static final String RANK = "X-data-parallel-rank";

  private final int bootstrapPort;
  private final Bootstraps bootstraps = new Bootstraps(TIMEOUT);

  public Mooncake() {
    this(0);
  }

  private Mooncake(int bootstrapPort) {
    this.bootstrapPort = bootstrapPort;
  }

  @Override
  public Connector configured(SidecarConfig config, PodAddresses pods) {
    return new Mooncake(config.get(Settings.MOONCAKE_BOOTSTRAP_PORT));
  }

  @Override
  public About about() {
    return new About(
        "mooncake",
        "prefill and decode concurrently, after a query to the bootstrap server",
        "`transfer_id` and the engine's id");
  }

  @Override
  public void serve(PdRequest request) {
    Target server = new Target(request.prefiller().host(), bootstrapPort);
    bootstraps
        .engines(server, request.parts().bootstraps(), request.loop())
        .onSuccess(engines -> request.guard(() -> serve(request, server, engines)))
        .onFailure(e -> refuse(request, e));
  }

  private static void refuse(PdRequest request, Throwable failure) {
    if (!request.ended()) {
      String why = String.valueOf(failure.getMessage());
      request.refuse(EngineAnswer.badGateway(why), "BadGateway");
    }
  }

  private void serve(PdRequest request, Target server, List<Bootstraps.Engine> engines) {
    if (request.ended()) {
      return;
    }
    Bootstraps.Engine engine = engines.get(ThreadLocalRandom.current().nextInt(engines.size()));
    String transferId = "xfer-" + UUID.randomUUID();
    JsonEdit prefill =
        request.body().edit().set(BodyMembers.KV_TRANSFER_PARAMS, prefillParams(transferId));
    TokenCaps.firstToken(prefill, request);
    JsonEdit decode =
        request
            .body()
            .edit()
            .set(BodyMembers.KV_TRANSFER_PARAMS, decodeParams(transferId, server, engine));
    request.ask(
        new PrefillLeg(prefill.pieces(), Map.of(RANK, engine.rank()), Dispatch.DETACHED, null),
        answer -> forgetWhereFailed(server, answer));
    request.stream(DecodeLeg.of(decode.pieces()));
  }

  /** Forgets the engines after a failure, because a restarted engine has another id. */
  private void forgetWhereFailed(Target server, EngineAnswer answer) {
    if (!answer.ok()) {
      bootstraps.forget(server);
    }
  }

  private static byte[] prefillParams(String transferId) {
    return new JsonWriter()
        .beginObject()
        .member("do_remote_prefill", false)
        .member("do_remote_decode", true)
        .member("transfer_id", transferId)
        .endObject()
        .toBytes();
  }

  private static byte[] decodeParams(String transferId, Target server, Bootstraps.Engine engine) {
    return new JsonWriter()
        .beginObject()
        .member("do_remote_prefill", true)
        .member("do_remote_decode", false)
        .member("transfer_id", transferId)
        .member("remote_bootstrap_addr", "http://" + server.authority())
        .member("remote_engine_id", engine.id())
        .endObject()
        .toBytes();
  }
}
