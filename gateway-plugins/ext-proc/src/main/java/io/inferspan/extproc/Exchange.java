package io.inferspan.extproc;

import com.google.protobuf.MessageLite;
import io.inferspan.epp.Endpoint;
import io.inferspan.epp.plugins.score.SessionAffinityScorer;
import io.inferspan.extproc.grpc.GrpcCall;
import io.inferspan.extproc.grpc.OversizedMessageException;
import io.inferspan.extproc.proto.Envoy.BodyMode;
import io.inferspan.extproc.wire.HeaderChanges;
import io.inferspan.extproc.wire.HeaderList;
import io.inferspan.extproc.wire.MalformedMessageException;
import io.inferspan.extproc.wire.ProcessingRequest;
import io.inferspan.extproc.wire.ProcessingRequest.Modes;
import io.inferspan.extproc.wire.ProcessingRequest.Part;
import io.inferspan.extproc.wire.ProcessingResponse;
import io.inferspan.extproc.wire.ProcessingResponse.Answer;
import io.inferspan.gateway.GatewayExchange;
import io.inferspan.gateway.GatewayRequest;
import io.inferspan.gateway.UpstreamAttempt;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One request and its response, which Envoy sends on one gRPC stream. {@link RequestSide} routes
 * the request. The response is observed and not changed.
 *
 * <p>It runs on the stream's event loop.
 */
final class Exchange implements GrpcCall.Receiver {

  /** The response header from which gateway conformance tests read the endpoint that answered. */
  private static final String SERVED_HEADER = "x-conformance-test-served-endpoint";

  private static final String NOT_REPORTED = "fail: missing destination endpoint served metadata";

  final ExtProcService service;
  final GrpcCall call;

  /** The modes in which Envoy sends bodies. */
  Modes modes;

  private @Nullable GatewayRequest request;
  private @Nullable RequestSide requestSide;
  private @Nullable UpstreamAttempt attempt;
  private @Nullable Endpoint target;
  private boolean observing;
  private boolean refused;
  private boolean responseBegun;

  Exchange(ExtProcService service, GrpcCall call) {
    this.service = service;
    this.call = call;
    this.modes = service.defaultModes;
  }

  @Override
  public boolean isBusy() {
    return requestSide != null && requestSide.isChoosing();
  }

  @Override
  public void receive(ByteBuffer bytes) throws MalformedMessageException {
    ProcessingRequest message = ProcessingRequest.read(bytes);
    GatewayRequest live = request;
    RequestSide side = requestSide;
    if (message.part() == Part.OTHER) {
      return;
    }
    if (live == null || side == null) {
      begin(message);
    } else if (message.part() == Part.REQUEST_HEADERS) {
      throw new MalformedMessageException("request headers were sent a second time");
    } else if (!message.part().isResponse()) {
      side.receive(message);
    } else if (!refused) {
      // After an error response of this service, later messages describe only that response.
      response(live, message);
    }
  }

  private void begin(ProcessingRequest message) throws MalformedMessageException {
    if (message.part() != Part.REQUEST_HEADERS) {
      throw new MalformedMessageException("the first message is not request headers");
    }
    GatewayRequest begun =
        service.tracing.begin(new EnvoyHeaders(message.headers(), message.source()));
    Modes reported = message.modes();
    modes = reported == null ? modes : reported;
    observing = message.observing();
    request = begun;
    requestSide = new RequestSide(this, begun);
    requestSide.begin(message);
  }

  /**
   * Sends the client an error response if the exchange waits for a body, because the rejected
   * message then contains a part of it.
   */
  @Override
  public boolean refuses(OversizedMessageException message) {
    RequestSide side = requestSide;
    if (side == null || !side.awaitsBody()) {
      return false;
    }
    boolean full = message.why() == OversizedMessageException.Cause.NO_ROOM;
    side.refuse(full ? Refusal.NO_ROOM : Refusal.BODY_TOO_LARGE);
    return true;
  }

  /**
   * Handles the end of the stream. If the response is incomplete, the client has disconnected,
   * unless Envoy does not send the response's body.
   */
  @Override
  public void closed(int status) {
    GatewayRequest live = request;
    if (live == null || requestSide == null) {
      return;
    }
    requestSide.release();
    if (status != GrpcCall.OK) {
      live.fail("grpc_status_" + status, cause(status));
    } else if (responseBegun && modes.response() == BodyMode.NONE) {
      end(live);
    } else {
      live.clientGone();
    }
  }

  private static String cause(int status) {
    return switch (status) {
      case GrpcCall.INVALID_ARGUMENT -> "Envoy sent an invalid external processing message";
      case GrpcCall.RESOURCE_EXHAUSTED -> "Envoy's message exceeded the limit of held bytes";
      default -> "the picker failed";
    };
  }

  /**
   * Returns whether Envoy is in observability mode, in which it ignores the responses of this
   * service.
   */
  boolean observing() {
    return observing;
  }

  /** Returns whether an error response was sent to the client. */
  boolean isRefused() {
    return refused;
  }

  /** Sets the endpoint that was chosen, and the call to it. */
  void routed(Endpoint chosen, UpstreamAttempt call) {
    target = chosen;
    attempt = call;
  }

  void refuse(GatewayRequest live, Refusal refusal) {
    refused = true;
    live.status(refusal.status());
    send(refusal.toMessage());
    live.end();
  }

  private void response(GatewayRequest live, ProcessingRequest message) {
    switch (message.part()) {
      case RESPONSE_HEADERS -> {
        responseHead(live, message);
        answer(message.part(), Answer.changing(changes(message.served())));
      }
      case RESPONSE_BODY -> {
        if (attempt == null) {
          live.see(message.body());
        } else {
          attempt.see(message.body());
        }
        pass(message, modes.response());
      }
      default -> send(ProcessingResponse.trailers(Part.RESPONSE_TRAILERS));
    }
    // With 101, the handshake of a WebSocket is complete.
    if (message.endOfStream() || "101".equals(message.headers().first(":status"))) {
      end(live);
    }
  }

  private void responseHead(GatewayRequest live, ProcessingRequest message) {
    responseBegun = true;
    HeaderList headers = message.headers();
    int status = status(headers.first(":status"));
    // If Envoy does not send the body, the content type is omitted, so that the response is not
    // observed. It would otherwise count as a response without tokens.
    boolean shown = modes.response() != BodyMode.NONE;
    String type = shown ? headers.first("content-type") : null;
    String encoding = headers.first("content-encoding");
    UpstreamAttempt chosen = attempt;
    if (chosen == null) {
      live.responseHead(status, type, encoding);
      return;
    }
    live.status(status);
    chosen.responseHead(status, type, encoding);
    String served = message.served();
    if (served != null) {
      // Envoy may have retried at another endpoint.
      chosen.target(served);
    }
  }

  private HeaderChanges changes(@Nullable String served) {
    HeaderChanges changes = new HeaderChanges();
    if (service.addsServedEndpoint) {
      changes.set(SERVED_HEADER, served == null ? NOT_REPORTED : served);
    }
    if (target != null && service.sendsSessionTokens) {
      changes.set(SessionAffinityScorer.TOKEN_HEADER, SessionAffinityScorer.token(target));
    }
    return changes;
  }

  private static int status(@Nullable String text) {
    try {
      return text == null ? 0 : Integer.parseInt(text);
    } catch (NumberFormatException e) {
      return 0;
    }
  }

  private void end(GatewayRequest live) {
    if (attempt != null) {
      attempt.end();
    }
    live.end();
  }

  void answer(Part part, Answer answer) {
    send(ProcessingResponse.answer(part, answer));
  }

  /** Passes a part of a body unchanged. */
  void pass(ProcessingRequest message, BodyMode mode) {
    if (mode == BodyMode.FULL_DUPLEX_STREAMED) {
      sendBack(message.part(), List.of(message.body()), message.endOfStream());
    } else {
      answer(message.part(), Answer.PASS);
    }
  }

  /** Sends a body back in pieces that Envoy accepts; the last one has the end-of-stream flag. */
  void sendBack(Part part, List<ByteBuffer> body, boolean endOfStream) {
    int last = body.size() - 1;
    for (int i = 0; i <= last; i++) {
      ByteBuffer bytes = body.get(i);
      int at = bytes.position();
      do {
        int length = Math.min(ProcessingResponse.MAX_PIECE_BYTES, bytes.limit() - at);
        ByteBuffer piece = bytes.slice(at, length);
        at += length;
        boolean ends = endOfStream && i == last && at == bytes.limit();
        send(ProcessingResponse.piece(part, piece, ends));
      } while (at < bytes.limit());
    }
    if (last < 0 && endOfStream) {
      send(ProcessingResponse.piece(part, ByteBuffer.allocate(0), true));
    }
  }

  void send(MessageLite message) {
    if (!observing) {
      call.send(message);
    }
  }

  /**
   * A request as Envoy describes it.
   *
   * @param source the client's {@code address:port}, or null
   */
  private record EnvoyHeaders(HeaderList headers, @Nullable String source)
      implements GatewayExchange {

    @Override
    public String method() {
      return orEmpty(headers.first(":method"));
    }

    @Override
    public String path() {
      return orEmpty(headers.first(":path"));
    }

    @Override
    public @Nullable String header(String name) {
      return headers.first(name);
    }

    @Override
    public Iterator<String> headers(String name) {
      return headers.all(name).iterator();
    }

    @Override
    public @Nullable InetAddress peer() {
      if (source == null) {
        return null;
      }
      int port = source.lastIndexOf(':');
      return port < 0
          ? null
          : NetUtil.createInetAddressFromIpAddressString(source.substring(0, port));
    }

    private static String orEmpty(@Nullable String value) {
      return value == null ? "" : value;
    }
  }
}
