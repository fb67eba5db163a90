package io.inferspan.gateway.extproc;

import io.inferspan.epp.Endpoint;
import io.inferspan.gateway.GatewayRequest;
import io.inferspan.gateway.UpstreamAttempt;
import io.inferspan.gateway.extproc.grpc.GrpcCall;
import io.inferspan.gateway.extproc.wire.ProcessingRequest.Modes;
import io.inferspan.gateway.extproc.wire.ProcessingRequest.Part;
import io.inferspan.gateway.extproc.wire.ProcessingResponse;
import io.inferspan.gateway.extproc.wire.ProcessingResponse.Answer;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** What the two sides of an exchange share. */
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

  /** Whether Envoy only tells, and takes no answer. */
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

  /** Whether the client has its answer from here, so that nothing is left to say. */
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

  void send(ByteBuffer message) {
    if (!observing) {
      call.send(message);
    }
  }
}
