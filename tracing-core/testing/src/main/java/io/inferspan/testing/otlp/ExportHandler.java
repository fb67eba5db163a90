package io.inferspan.testing.otlp;

import com.google.protobuf.InvalidProtocolBufferException;
import io.inferspan.testing.Printable;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.otlp.OtlpReceiver.Call;
import io.vertx.core.Handler;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.HttpVersion;
import java.io.IOException;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Handles the export calls of both protocols. */
record ExportHandler(OtlpReceiver receiver) implements Handler<HttpServerRequest> {
  static final String HTTP_PATH = "/v1/traces";
  static final String GRPC_PATH = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";

  /** The result of a call, for both protocols. */
  private record Answer(int grpcStatus, int httpStatus, String message) {
    static final Answer OK = new Answer(0, 200, "");
    static final Answer UNAVAILABLE = new Answer(14, 503, "the test set the behaviour REJECT");
    static final Answer INVALID = new Answer(3, 400, "the test set the behaviour REFUSE");
    static final Answer WRONG_METHOD = new Answer(12, 405, "the method must be POST");
    static final Answer NONE = new Answer(-1, -1, "the test set the behaviour NEVER_ANSWER");

    static Answer malformed(@Nullable String why) {
      return new Answer(3, 400, String.valueOf(why));
    }
  }

  @Override
  public void handle(HttpServerRequest request) {
    // If the body never completes, the client has disconnected and expects no response.
    request.body().onSuccess(body -> finish(request, body.getBytes()));
  }

  private void finish(HttpServerRequest request, byte[] body) {
    boolean isGrpc = isGrpc(request);
    Answer answer;
    try {
      answer = take(request, body, isGrpc);
    } catch (RuntimeException e) {
      // An exception on the event loop would leave the client without a response.
      answer = new Answer(13, 500, "the receiver failed: " + e);
    }
    if (!answer.equals(Answer.OK)) {
      receiver.problems.add(List.of(Printable.of(answer.message)));
    }
    if (answer.equals(Answer.NONE)) {
      return;
    }
    if (isGrpc) {
      replyGrpc(request.response(), answer);
    } else {
      replyHttp(request.response(), answer);
    }
  }

  private Answer take(HttpServerRequest request, byte[] body, boolean isGrpc) {
    byte[] message;
    Answer problem = null;
    try {
      message =
          isGrpc
              ? OtlpWire.unframe(body, request.getHeader("grpc-encoding"))
              : OtlpWire.expand(body, request.getHeader("content-encoding"));
    } catch (InvalidProtocolBufferException e) {
      message = body;
      problem = Answer.malformed(e.getMessage());
    }
    // Rejected requests count as received, too.
    receiver.bodies.add(List.of(message));
    if (!(isGrpc ? GRPC_PATH : HTTP_PATH).equals(request.path())) {
      return new Answer(12, 404, "there is no such path: " + request.uri());
    }
    if (!request.method().equals(HttpMethod.POST)) {
      return Answer.WRONG_METHOD;
    }
    // Read before the call becomes visible, so that a test can then change it for the next call.
    Answer misbehaviour = misbehaviour();
    receiver.calls.add(List.of(new Call(isGrpc ? "grpc" : "http", headers(request))));
    if (misbehaviour != null) {
      return misbehaviour;
    }
    if (!isGrpc && !contentType(request).startsWith("application/x-protobuf")) {
      return new Answer(
          12, 415, "the content type must be application/x-protobuf, not " + contentType(request));
    }
    return problem != null ? problem : accept(message);
  }

  private @Nullable Answer misbehaviour() {
    return switch (receiver.behaviour) {
      case ACCEPT -> null;
      case REJECT -> Answer.UNAVAILABLE;
      case REFUSE -> Answer.INVALID;
      case NEVER_ANSWER -> Answer.NONE;
    };
  }

  private Answer accept(byte[] message) {
    try {
      receiver.spans.add(SpanRecord.ofOtlp(message));
    } catch (IOException e) {
      return Answer.malformed("not an ExportTraceServiceRequest: " + e.getMessage());
    }
    return Answer.OK;
  }

  private static void replyGrpc(HttpServerResponse response, Answer answer) {
    response.putHeader("content-type", "application/grpc");
    String status = Integer.toString(answer.grpcStatus);
    if (answer.equals(Answer.OK)) {
      response.putTrailer("grpc-status", status);
      // An empty ExportTraceServiceResponse: everything was accepted.
      response.end(Buffer.buffer(OtlpWire.frame(new byte[0])));
    } else {
      // An error response has no message: its status is in the headers, which end the stream.
      response.putHeader("grpc-status", status);
      response.putHeader("grpc-message", OtlpWire.percentEncode(answer.message));
      response.end();
    }
  }

  private static void replyHttp(HttpServerResponse response, Answer answer) {
    response.setStatusCode(answer.httpStatus);
    response.putHeader("content-type", "application/x-protobuf");
    if (answer.equals(Answer.OK)) {
      response.end();
    } else {
      response.end(Buffer.buffer(OtlpWire.status(answer.grpcStatus, answer.message)));
    }
  }

  private static boolean isGrpc(HttpServerRequest request) {
    return request.version() == HttpVersion.HTTP_2
        && contentType(request).startsWith("application/grpc");
  }

  private static String contentType(HttpServerRequest request) {
    String type = request.getHeader("content-type");
    return type == null ? "" : type.toLowerCase(Locale.ROOT);
  }

  private static Map<String, String> headers(HttpServerRequest request) {
    Map<String, String> headers = new TreeMap<>();
    request
        .headers()
        .forEach(
            (name, value) ->
                headers.merge(name.toLowerCase(Locale.ROOT), value, (a, b) -> a + ", " + b));
    return Collections.unmodifiableMap(headers);
  }
}
