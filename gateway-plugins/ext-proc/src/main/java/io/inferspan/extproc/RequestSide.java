package io.inferspan.extproc;

import io.inferspan.OperationSpan;
import io.inferspan.epp.Endpoint;
import io.inferspan.epp.SchedulingResult;
import io.inferspan.extproc.EndpointChoice.Verdict;
import io.inferspan.extproc.grpc.GrpcCall;
import io.inferspan.extproc.proto.Envoy.BodyMode;
import io.inferspan.extproc.wire.HeaderChanges;
import io.inferspan.extproc.wire.HeaderList;
import io.inferspan.extproc.wire.ProcessingRequest;
import io.inferspan.extproc.wire.ProcessingRequest.Modes;
import io.inferspan.extproc.wire.ProcessingRequest.Part;
import io.inferspan.extproc.wire.ProcessingResponse;
import io.inferspan.extproc.wire.ProcessingResponse.Answer;
import io.inferspan.gateway.GatewayRequest;
import io.inferspan.gateway.UpstreamAttempt;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The request half of an exchange: picks an endpoint and routes the request.
 *
 * <p>If Envoy delays the headers until the body is complete, the endpoint is picked with the whole
 * body; otherwise it is picked with the headers only.
 */
final class RequestSide {

  private final Exchange exchange;
  private final GatewayRequest request;
  private final HeldBody body;
  private HeaderList headers = HeaderList.EMPTY;
  private @Nullable List<String> subset;
  private @Nullable Modes override;
  private boolean choosing;
  private boolean chosen;

  RequestSide(Exchange exchange, GatewayRequest request) {
    this.exchange = exchange;
    this.request = request;
    this.body = exchange.service.hold();
  }

  boolean isChoosing() {
    return choosing;
  }

  /** Returns whether picking waits for the body. */
  boolean awaitsBody() {
    return !choosing && !chosen && !exchange.observing() && !exchange.isRefused();
  }

  void release() {
    body.release();
  }

  /** Discards the buffered body and sends an error response to the client. */
  void refuse(Refusal refusal) {
    body.release();
    exchange.refuse(request, refusal);
  }

  void begin(ProcessingRequest message) {
    headers = message.headers();
    subset = message.subset();
    if (exchange.observing()) {
      return;
    }
    // A connection that becomes a WebSocket has no end of the body to wait for.
    boolean webSocket = "websocket".equalsIgnoreCase(headers.first("upgrade"));
    boolean bodyless = message.endOfStream() || webSocket;
    negotiate(bodyless, webSocket);
    if (bodyless || !exchange.modes.holdsHeaders()) {
      choose(Part.REQUEST_HEADERS, message.endOfStream());
    } else if (exchange.modes.request() != BodyMode.FULL_DUPLEX_STREAMED) {
      // The endpoint is picked when the body is complete; remove the client's routing headers now.
      exchange.answer(
          Part.REQUEST_HEADERS, new Answer(Routing.withoutClientRouting(), false, null, override));
    }
  }

  /** Requests the body modes that the service needs, if overrides are configured. */
  private void negotiate(boolean bodyless, boolean webSocket) {
    Modes current = exchange.modes;
    if (!exchange.service.overridesModes) {
      return;
    }
    BodyMode request = current.request();
    if (webSocket && (request == BodyMode.BUFFERED || request == BodyMode.BUFFERED_PARTIAL)) {
      // Otherwise, Envoy would hold even the routed headers until the body ends.
      request = BodyMode.NONE;
    } else if (!bodyless && !current.holdsHeaders()) {
      request = BodyMode.BUFFERED;
    }
    BodyMode response =
        current.response() == BodyMode.NONE ? BodyMode.STREAMED : current.response();
    Modes needed = new Modes(request, response);
    if (!needed.equals(current)) {
      override = needed;
      exchange.modes = needed;
    }
  }

  void receive(ProcessingRequest message) {
    request.requestBody(message.body());
    if (exchange.observing() || exchange.isRefused()) {
      return;
    }
    if (chosen) {
      pass(message);
      return;
    }
    Refusal refusal = body.add(message.body());
    if (refusal != null) {
      refuse(refusal);
    } else if (message.endOfStream() || exchange.modes.request() != BodyMode.FULL_DUPLEX_STREAMED) {
      choose(message.part(), true);
    }
  }

  /** Passes messages unchanged after the endpoint has been picked. */
  private void pass(ProcessingRequest message) {
    if (message.part() == Part.REQUEST_TRAILERS) {
      exchange.send(ProcessingResponse.trailers(message.part()));
    } else {
      exchange.pass(message, exchange.modes.request());
    }
  }

  /** A pick in progress, with the part of the request that completed its input. */
  private record PendingPick(Part endedBy, TargetModel model, OperationSpan orchestration) {}

  private void choose(Part endedBy, boolean bodySeen) {
    choosing = true;
    ChatBody chat = bodySeen ? ChatBody.read(body.toArray()) : ChatBody.UNSEEN;
    TargetModel model = TargetModel.of(headers, chat);
    PendingPick pendingPick = new PendingPick(endedBy, model, request.orchestration(model.name()));
    CompletableFuture<Verdict> verdict =
        exchange
            .service
            .choice
            .choose(
                new EndpointChoice.Request(request.id(), headers, subset, model),
                pendingPick.orchestration.context())
            .toCompletableFuture();
    if (verdict.isDone()) {
      decided(verdict.join(), pendingPick);
      return;
    }
    Context eventLoop = Objects.requireNonNull(Vertx.currentContext());
    Future.fromCompletionStage(verdict, eventLoop)
        .onSuccess(found -> decidedAsynchronously(found, pendingPick));
  }

  private void decidedAsynchronously(Verdict verdict, PendingPick pendingPick) {
    try {
      decided(verdict, pendingPick);
      exchange.call.resume();
    } catch (RuntimeException e) {
      exchange.call.end(GrpcCall.INTERNAL, e.getClass().getSimpleName());
    }
  }

  private void decided(Verdict verdict, PendingPick pendingPick) {
    choosing = false;
    chosen = true;
    SchedulingResult result = verdict.result();
    Endpoint target = result == null ? null : result.target();
    try (OperationSpan orchestration = pendingPick.orchestration) {
      if (result == null || target == null) {
        Refusal refusal = verdict.refusal();
        Refusal error = refusal == null ? Refusal.NO_ENDPOINT : refusal;
        orchestration.fail(error.type(), error.message());
        exchange.refuse(request, error);
      } else {
        route(result, target, pendingPick);
      }
    }
    body.release();
  }

  private void route(SchedulingResult result, Endpoint target, PendingPick pendingPick) {
    Part endedBy = pendingPick.endedBy;
    UpstreamAttempt attempt = request.attempt(target.address(), target.port());
    exchange.routed(target, attempt);
    Routing routing = Routing.to(result, exchange.service.choice.scheduler(), attempt, headers);
    boolean streamedBack =
        exchange.modes.request() == BodyMode.FULL_DUPLEX_STREAMED
            && endedBy != Part.REQUEST_HEADERS;
    boolean rewritten = pendingPick.model.isRewritten();
    List<ByteBuffer> forwarded = rewritten ? pendingPick.model.rewritten() : body.pieces();
    if (rewritten || (streamedBack && endedBy == Part.REQUEST_BODY)) {
      setContentLength(routing.changes(), forwarded);
    }
    Part answered =
        streamedBack || endedBy == Part.REQUEST_HEADERS ? Part.REQUEST_HEADERS : Part.REQUEST_BODY;
    Modes newModes = answered == Part.REQUEST_HEADERS ? override : null;
    Answer answer = new Answer(routing.changes(), true, routing.destination(), newModes);
    if (streamedBack) {
      exchange.answer(answered, answer);
      exchange.sendBack(Part.REQUEST_BODY, forwarded, endedBy == Part.REQUEST_BODY);
    } else if (rewritten) {
      exchange.send(ProcessingResponse.replacing(answered, answer, forwarded));
    } else {
      exchange.answer(answered, answer);
    }
    if (endedBy == Part.REQUEST_TRAILERS) {
      exchange.send(ProcessingResponse.trailers(endedBy));
    }
    // Envoy connects now, but does not report when it has connected.
    attempt.connected();
  }

  /**
   * Sets the content length, because Envoy removes it if a body may change. In full duplex mode the
   * whole body has arrived. In the other modes, adds the change in size to the original content
   * length, because the rest of the body does not change.
   */
  private void setContentLength(HeaderChanges changes, List<ByteBuffer> forwarded) {
    int length = forwarded.stream().mapToInt(ByteBuffer::remaining).sum();
    if (exchange.modes.request() == BodyMode.FULL_DUPLEX_STREAMED) {
      changes.set("content-length", Integer.toString(length));
      return;
    }
    String announced = headers.first("content-length");
    if (announced != null && announced.matches("[0-9]{1,18}")) {
      changes.set(
          "content-length", Long.toString(Long.parseLong(announced) - body.bytes() + length));
    }
  }
}
