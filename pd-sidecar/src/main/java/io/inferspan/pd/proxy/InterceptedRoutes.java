package io.inferspan.pd.proxy;

import io.inferspan.pd.chunk.ChunkedDecode;
import io.inferspan.pd.config.SidecarConfig.EcConnector;
import io.inferspan.pd.config.SidecarConfig.Limits;
import io.inferspan.pd.connector.Connector;
import io.inferspan.pd.encode.EncodeStage;
import io.inferspan.pd.json.JsonScan;
import io.inferspan.pd.json.JsonShape;
import io.inferspan.pd.memory.HeldBody;
import io.inferspan.pd.relay.BodyCollector;
import io.inferspan.pd.relay.EngineAnswer;
import io.inferspan.pd.request.BodyMembers;
import io.inferspan.pd.request.DecodeLeg;
import io.inferspan.pd.request.PdRequest;
import io.inferspan.pd.request.ProxyParts;
import io.inferspan.pd.upstream.Target;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.function.Consumer;

/** The ways of a request that the proxy looks into, in llm-d's order: encode, P/D, decode only. */
final class InterceptedRoutes {
  private static final String CHAT_COMPLETIONS = "/v1/chat/completions";
  private static final int LARGEST_ARRAY = Integer.MAX_VALUE - 8;

  private final ProxyParts parts;
  private final Connector connector;
  private final JsonShape shape;
  private final EcConnector encoding;
  private final int chunkSize;
  private final ChunkedDecode chunkedDecode;
  private final BodyCollector.Bounds bounds;

  InterceptedRoutes(ProxyParts parts, Connector connector) {
    this.parts = parts;
    this.connector = connector;
    this.shape = BodyMembers.with(connector.members());
    this.encoding = parts.config().connectors().ec();
    this.chunkSize = parts.config().connectors().decodeChunkSize();
    this.chunkedDecode = new ChunkedDecode(chunkSize);
    Limits limits = parts.config().limits();
    this.bounds =
        new BodyCollector.Bounds(
            Math.min(limits.bodyBytes(), LARGEST_ARRAY),
            limits.bodyTime(),
            limits.bodyBytesPerSecond());
  }

  void serve(PdRequest request) {
    if (!request.decision().encoders().isEmpty()) {
      boolean merges = encoding == EcConnector.NIXL;
      withBody(request, _ -> EncodeStage.run(request, merges, this::serveGathered));
    } else if (request.decision().prefiller() != null) {
      withBody(request, this::serveGathered);
    } else {
      decodeOnly(request);
    }
  }

  private void serveGathered(PdRequest request) {
    String source = request.decision().kvSource();
    Target decoder = request.decoder();
    if (request.decision().prefiller() != null) {
      request.metrics().disaggregated(connector.name(), request.trace().spanContext());
      connector.serve(request);
    } else if (decoder == null) {
      request.refuseRank();
    } else if (source != null) {
      connector.decodeWithPull(request, source);
    } else {
      request.stream(DecodeLeg.of(request.body().original()).on(decoder));
    }
  }

  private void decodeOnly(PdRequest request) {
    Target decoder = request.decoder();
    if (decoder == null) {
      request.refuseRank();
    } else if (request.decision().kvSource() != null || chunks(request)) {
      withBody(request, this::serveGathered);
    } else {
      request.pass(decoder);
    }
  }

  /** With other connectors the stages meet in each chunk, not only in the first. */
  private boolean chunks(PdRequest request) {
    return chunkSize > 0
        && Routes.path(request.exchange().request().uri()).equals(CHAT_COMPLETIONS)
        && (request.decision().prefiller() == null || connector.decodesInChunks());
  }

  /** Collects the body, scans it and continues; or responds with an error. */
  private void withBody(PdRequest request, Consumer<PdRequest> next) {
    Target prefiller = request.decision().prefiller();
    HeldBody held = parts.heldBodies().open(prefiller == null ? null : prefiller.authority());
    request.hold(held);
    int depth = parts.config().limits().jsonDepth();
    BodyCollector.collect(
        request.exchange(),
        bounds,
        held,
        end -> {
          if (end == BodyCollector.End.COMPLETE) {
            request.guard(
                () ->
                    request.compute(
                        held,
                        () -> JsonScan.of(held.join(), shape, depth),
                        scan -> scanned(request, held, scan, next)));
          } else {
            refuse(request, end);
          }
        });
  }

  private void scanned(PdRequest request, HeldBody held, JsonScan scan, Consumer<PdRequest> next) {
    if (scan.object() == null) {
      request.refuse(
          EngineAnswer.badRequest("invalid JSON: " + scan.fault()),
          "invalid_json",
          "the body is not a JSON object");
      return;
    }
    request.scanned(held, scan.object());
    if (chunks(request)) {
      request.decodedBy(chunkedDecode::decode);
    }
    next.accept(request);
  }

  private void refuse(PdRequest request, BodyCollector.End why) {
    switch (why) {
      case COMPLETE -> throw new IllegalArgumentException("a whole body is not refused");
      case NO_ROOM -> {
        request.metrics().noRoomForBody();
        request.refuse(
            EngineAnswer.busy(
                "the bodies held already take the limit of %d bytes (--held-bodies-limit)"
                    .formatted(parts.heldBodies().limit())),
            "no_room_for_body",
            "the limit for held bodies is reached");
      }
      case TOO_LARGE -> {
        request.metrics().bodyTooLarge();
        request.exchange().closeAfter();
        request.refuse(
            EngineAnswer.error(
                HttpResponseStatus.REQUEST_ENTITY_TOO_LARGE,
                "RequestEntityTooLarge",
                "the body is larger than the limit of %d bytes (--body-limit)"
                    .formatted(bounds.bytes())),
            "body_too_large",
            "the body is larger than allowed");
      }
      case TOO_SLOW -> {
        request.exchange().closeAfter();
        request.refuse(
            EngineAnswer.error(
                HttpResponseStatus.REQUEST_TIMEOUT,
                "RequestTimeout",
                "the body did not arrive in time (--body-timeout, --body-min-rate)"),
            "body_too_slow",
            "the body did not arrive in time");
      }
    }
  }
}
