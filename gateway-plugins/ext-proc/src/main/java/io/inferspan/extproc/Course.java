package io.inferspan.extproc;

import com.google.protobuf.MessageLite;
import io.inferspan.epp.Endpoint;
import io.inferspan.extproc.grpc.GrpcCall;
import io.inferspan.extproc.wire.ProcessingRequest.Modes;
import io.inferspan.extproc.wire.ProcessingRequest.Part;
import io.inferspan.extproc.wire.ProcessingResponse;
import io.inferspan.extproc.wire.ProcessingResponse.Answer;
import io.inferspan.gateway.GatewayRequest;
import io.inferspan.gateway.UpstreamAttempt;
import org.jspecify.annotations.Nullable;

/** The state that the two sides of an exchange share. */
final class Course {

  private final ExtProcService service;
  private final GrpcCall call;
  private final GatewayRequest request;
  private final boolean observing;
  private Modes modes;
  private @Nullable UpstreamAttempt attempt;
  private @Nullable Endpoint target;
  private boolean refused;

  Course(
      ExtProcService service,
      GrpcCall call,
      GatewayRequest request,
      Modes modes,
      boolean observing) {
    this.service = service;
    this.call = call;
    this.request = request;
    this.modes = modes;
    this.observing = observing;
  }

  ExtProcService service() {
    return service;
  }

  GatewayRequest request() {
    return request;
  }

  GrpcCall call() {
    return call;
  }

  /** Returns whether Envoy only observes and ignores responses. */
  boolean observing() {
    return observing;
  }

  Modes modes() {
    return modes;
  }

  void modes(Modes from) {
    modes = from;
  }

  /** The call of the engine; null until it is chosen. */
  @Nullable UpstreamAttempt attempt() {
    return attempt;
  }

  /** The endpoint that the request goes to; null until it is chosen. */
  @Nullable Endpoint target() {
    return target;
  }

  void goesTo(Endpoint chosen, UpstreamAttempt call) {
    target = chosen;
    attempt = call;
  }

  /** Returns whether the client was answered directly, so that nothing is left to send. */
  boolean isRefused() {
    return refused;
  }

  void refuse(Refusal refusal) {
    refused = true;
    request.status(refusal.status());
    send(refusal.toMessage());
    request.end();
  }

  void answer(Part part, Answer answer) {
    send(ProcessingResponse.answer(part, answer));
  }

  void send(MessageLite message) {
    if (!observing) {
      call.send(message);
    }
  }
}
