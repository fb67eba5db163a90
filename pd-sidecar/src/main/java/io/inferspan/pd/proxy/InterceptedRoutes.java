package io.inferspan.pd.proxy;

import io.inferspan.pd.config.SidecarConfig.EcConnector;
import io.inferspan.pd.connector.ChunkedDecode;
import io.inferspan.pd.connector.Connector;
import io.inferspan.pd.connector.EncodeStage;
import io.inferspan.pd.json.InvalidJson;
import io.inferspan.pd.json.JsonObject;
import io.inferspan.pd.metrics.DisaggType;
import io.inferspan.pd.relay.BodyCollector;
import io.inferspan.pd.relay.Errors;
import io.inferspan.pd.relay.HeldBodies;
import io.inferspan.pd.stage.BodyMembers;
import io.inferspan.pd.stage.Decision;
import io.inferspan.pd.stage.DecodeLeg;
import io.inferspan.pd.stage.LiveRequest;
import io.inferspan.pd.stage.PdRequest;
import io.inferspan.pd.stage.ProxyParts;
import io.inferspan.pd.stage.StageBody;
import io.inferspan.pd.upstream.Target;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The ways of a request that the proxy looks into, in llm-d's order: encode, P/D, decode only. */
final class InterceptedRoutes {
  private static final String CHAT_COMPLETIONS = "/v1/chat/completions";

  private final ProxyParts parts;
  private final Connector connector;
  private final DisaggType disaggType;
  private final boolean encodes;
  private final EncodeStage encodeStage;
  private final int chunkSize;
  private final ChunkedDecode chunkedDecode;

  InterceptedRoutes(ProxyParts parts, Connector connector) {
    this.parts = parts;
    this.connector = connector;
    this.disaggType = DisaggType.valueOf(parts.config().connectors().kv().name());
    EcConnector ec = parts.config().connectors().ec();
    this.encodes = ec != EcConnector.NONE;
    this.encodeStage = new EncodeStage(ec == EcConnector.NIXL);
    this.chunkSize = parts.config().connectors().decodeChunkSize();
    this.chunkedDecode = new ChunkedDecode(chunkSize);
  }

  /** Whether there is an encode stage at all. */
  boolean encodes() {
    return encodes;
  }

  void serve(LiveRequest live, Decision decision) {
    if (!decision.encoders().isEmpty()) {
      withBody(
          live,
          decision,
          request -> encodeStage.run(request, decision.encoders(), this::afterEncode));
    } else if (decision.prefiller() != null) {
      withBody(live, decision, this::servePd);
    } else {
      decodeOnly(live, decision);
    }
  }

  private void servePd(PdRequest request) {
    request.live().metrics().disaggregated(disaggType, request.trace().spanContext());
    connector.serve(request);
  }

  private void afterEncode(PdRequest encoded) {
    if (encoded.hasPrefiller()) {
      servePd(encoded);
      return;
    }
    Target decoder = encoded.decoder();
    String source = encoded.kvSource();
    if (decoder == null) {
      encoded.refuse(HttpResponseStatus.BAD_REQUEST);
    } else if (source != null) {
      connector.decodeWithPull(encoded, source);
    } else {
      encoded.decode(DecodeLeg.of(encoded.original()).on(decoder));
    }
  }

  private void decodeOnly(LiveRequest live, Decision decision) {
    Target decoder = decoder(live, decision);
    String source = decision.kvSource();
    if (decoder == null) {
      live.failed();
      live.trace().fail("unknown_rank", "no such data-parallel rank");
      Errors.empty(live.exchange(), HttpResponseStatus.BAD_REQUEST);
      live.answered(HttpResponseStatus.BAD_REQUEST.code());
    } else if (source != null) {
      withBody(live, decision, request -> connector.decodeWithPull(request, source));
    } else if (chunks(live, decision)) {
      withBody(live, decision, chunkedDecode::serve);
    } else {
      StreamedLeg.start(live, parts.engines().decoders(), decoder);
    }
  }

  private @Nullable Target decoder(LiveRequest live, Decision decision) {
    String asked = decision.dataParallel();
    return asked == null ? parts.decoders().of(live.exchange().rank()) : parts.decoders().at(asked);
  }

  /** With other connectors the stages meet in each chunk, not only in the first. */
  private boolean chunks(LiveRequest live, Decision decision) {
    return chunkSize > 0
        && isChat(live)
        && (decision.prefiller() == null || disaggType == DisaggType.NIXLV2);
  }

  private static boolean isChat(LiveRequest live) {
    return Routes.path(live.exchange().request().uri()).equals(CHAT_COMPLETIONS);
  }

  /** Gathers the body, scans it, and goes on; or says what is wrong with it. */
  private void withBody(LiveRequest live, Decision decision, Consumer<PdRequest> next) {
    long limit = parts.config().limits().bodyBytes();
    HeldBodies.Share share = parts.heldBodies().open();
    live.hold(share);
    BodyCollector.collect(
        live.exchange(),
        limit,
        share,
        new BodyCollector.Taker() {
          @Override
          public void complete(byte[] bytes, int length) {
            live.guard(() -> scanned(live, decision, bytes, length, next));
          }

          @Override
          public void tooLarge() {
            refuseLarge(live, limit);
          }

          @Override
          public void noRoom() {
            refuseNow(live, parts.heldBodies().limit());
          }
        });
  }

  private void scanned(
      LiveRequest live, Decision decision, byte[] bytes, int length, Consumer<PdRequest> next) {
    JsonObject body;
    try {
      int depth = parts.config().limits().jsonDepth();
      body = JsonObject.scan(bytes, 0, length, BodyMembers.SHAPE, depth);
    } catch (InvalidJson e) {
      live.failed();
      live.trace().fail("invalid_json", "the body is not a JSON object");
      Errors.badRequest(live.exchange(), "invalid JSON: " + e.getMessage());
      live.answered(HttpResponseStatus.BAD_REQUEST.code());
      return;
    }
    PdRequest request = new PdRequest(live, parts, decision, body, StageBody.of(bytes, length));
    next.accept(chunks(live, decision) ? request.decodedBy(chunkedDecode::decode) : request);
  }

  private static void refuseNow(LiveRequest live, long limit) {
    live.metrics().noRoomForBody();
    live.failed();
    live.trace().fail("no_room_for_body", "the bodies held already take what they may");
    Errors.busy(
        live.exchange(),
        "the bodies held already take the limit of " + limit + " bytes (--held-bodies-limit)");
    live.answered(HttpResponseStatus.SERVICE_UNAVAILABLE.code());
  }

  private static void refuseLarge(LiveRequest live, long limit) {
    live.metrics().bodyTooLarge();
    live.failed();
    live.trace().fail("body_too_large", "the body is larger than allowed");
    live.exchange().closeAfter();
    Errors.json(
        live.exchange(),
        HttpResponseStatus.REQUEST_ENTITY_TOO_LARGE,
        "RequestEntityTooLarge",
        "the body is larger than the limit of " + limit + " bytes (--body-limit)");
    live.answered(HttpResponseStatus.REQUEST_ENTITY_TOO_LARGE.code());
  }
}
