package io.inferspan.extproc;

import io.inferspan.extproc.grpc.GrpcCall;
import io.inferspan.extproc.grpc.OversizedMessageException;
import io.inferspan.extproc.wire.MalformedMessageException;
import io.inferspan.extproc.wire.ProcessingRequest;
import io.inferspan.extproc.wire.ProcessingRequest.Modes;
import io.inferspan.extproc.wire.ProcessingRequest.Part;
import io.inferspan.gateway.GatewayRequest;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * One exchange of a client and an engine, as Envoy shows it on one stream.
 *
 * <p>All of it runs on the stream's event loop.
 */
final class EnvoyExchange implements GrpcCall.Receiver {

  private final ExtProcService service;
  private final GrpcCall call;
  private @Nullable RequestSide requestSide;
  private @Nullable ResponseSide responseSide;

  EnvoyExchange(ExtProcService service, GrpcCall call) {
    this.service = service;
    this.call = call;
  }

  @Override
  public boolean isBusy() {
    return requestSide != null && requestSide.isChoosing();
  }

  @Override
  public void receive(ByteBuffer bytes) throws MalformedMessageException {
    ProcessingRequest message = ProcessingRequest.read(bytes);
    RequestSide asked = requestSide;
    ResponseSide answered = responseSide;
    if (message.part() == Part.OTHER) {
      return;
    }
    if (asked == null || answered == null) {
      begin(message);
    } else if (message.part() == Part.REQUEST_HEADERS) {
      throw new MalformedMessageException("the exchange begins a second time");
    } else if (message.part().isResponse()) {
      answered.receive(message);
    } else {
      asked.receive(message);
    }
  }

  /** While a body is awaited, the message is that body, and the client can be answered. */
  @Override
  public boolean refuses(OversizedMessageException message) {
    RequestSide asked = requestSide;
    if (asked == null || !asked.awaitsBody()) {
      return false;
    }
    boolean full = message.why() == OversizedMessageException.Cause.NO_ROOM;
    asked.refuse(full ? Refusal.NO_ROOM : Refusal.BODY_TOO_LARGE);
    return true;
  }

  private void begin(ProcessingRequest message) throws MalformedMessageException {
    if (message.part() != Part.REQUEST_HEADERS) {
      throw new MalformedMessageException("the exchange does not begin with request headers");
    }
    GatewayRequest request =
        service.tracing().begin(new EnvoyHeaders(message.headers(), message.source()));
    Modes told = message.modes();
    Course course =
        new Course(
            service,
            call,
            request,
            told == null ? service.untoldModes() : told,
            message.observing());
    requestSide = new RequestSide(course);
    responseSide = new ResponseSide(course);
    requestSide.begin(message);
  }

  @Override
  public void closed(int status) {
    if (requestSide != null) {
      requestSide.release();
    }
    if (responseSide != null) {
      responseSide.closed(status);
    }
  }
}
