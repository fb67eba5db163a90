package io.inferspan.samples.desk.receiver;

import com.google.protobuf.CodedOutputStream;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceResponse;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerResponse;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** Writes responses to export calls, in gRPC, protobuf or JSON. */
final class OtlpResponse {

  private static final String REJECTED = "spans without a valid trace or span id";
  private static final int STATUS_CODE = 1;
  private static final int STATUS_MESSAGE = 2;

  private OtlpResponse() {}

  /** The protocol and format of a response. */
  enum Form {
    GRPC,
    PROTOBUF,
    JSON
  }

  /** Reports success, or partial success if spans were rejected. */
  static void accepted(HttpServerResponse response, Form form, int rejected) {
    byte[] message = rejected == 0 ? new byte[0] : partialSuccess(rejected);
    switch (form) {
      case GRPC -> {
        response.putHeader("content-type", "application/grpc").putTrailer("grpc-status", "0");
        response.end(
            Buffer.buffer().appendByte((byte) 0).appendInt(message.length).appendBytes(message));
      }
      case PROTOBUF ->
          response.putHeader("content-type", "application/x-protobuf").end(Buffer.buffer(message));
      case JSON ->
          json(
              response,
              rejected == 0
                  ? "{}"
                  : "{\"partialSuccess\":{\"rejectedSpans\":\"%d\",\"errorMessage\":\"%s\"}}"
                      .formatted(rejected, REJECTED));
    }
  }

  private static byte[] partialSuccess(int rejected) {
    ExportTraceServiceResponse.Builder response = ExportTraceServiceResponse.newBuilder();
    response.getPartialSuccessBuilder().setRejectedSpans(rejected).setErrorMessage(REJECTED);
    return response.build().toByteArray();
  }

  /** Reports a refusal, unless a response was sent or the client has disconnected. */
  static void refused(HttpServerResponse response, Form form, Refusal refusal) {
    if (response.ended() || response.closed()) {
      return;
    }
    switch (form) {
      case GRPC ->
          // A gRPC response without a message carries its status in the headers.
          response
              .putHeader("content-type", "application/grpc")
              .putHeader("grpc-status", Integer.toString(refusal.grpcStatus()))
              .putHeader("grpc-message", percentEncoded(refusal.sentence()))
              .end();
      case PROTOBUF ->
          response
              .setStatusCode(refusal.httpStatus())
              .putHeader("content-type", "application/x-protobuf")
              .end(Buffer.buffer(status(refusal)));
      case JSON -> {
        response.setStatusCode(refusal.httpStatus());
        json(
            response,
            "{\"code\":%d,\"message\":\"%s\"}"
                .formatted(refusal.grpcStatus(), plain(refusal.sentence())));
      }
    }
  }

  /** Returns an encoded {@code google.rpc.Status}. */
  private static byte[] status(Refusal refusal) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try {
      CodedOutputStream out = CodedOutputStream.newInstance(bytes);
      out.writeInt32(STATUS_CODE, refusal.grpcStatus());
      out.writeString(STATUS_MESSAGE, refusal.sentence());
      out.flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  private static void json(HttpServerResponse response, String body) {
    response.putHeader("content-type", "application/json").end(body);
  }

  private static String plain(String sentence) {
    return sentence.replaceAll("[^ -!#-\\[\\]-~]", " ");
  }

  /** Encodes text for the header {@code grpc-message}. */
  private static String percentEncoded(String text) {
    StringBuilder encoded = new StringBuilder();
    for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
      if (b >= ' ' && b < 0x7f && b != '%') {
        encoded.append((char) b);
      } else {
        encoded.append(String.format(Locale.ROOT, "%%%02X", b & 0xff));
      }
    }
    return encoded.toString();
  }
}
