package io.inferspan.samples.desk.receiver;

import io.inferspan.samples.desk.otlp.ProtoWriter;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerResponse;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** Writes the ends of calls. */
final class OtlpAnswer {

  private static final int PARTIAL_SUCCESS = 1;
  private static final int REJECTED_SPANS = 1;
  private static final int ERROR_MESSAGE = 2;
  private static final int STATUS_CODE = 1;
  private static final int STATUS_MESSAGE = 2;

  private OtlpAnswer() {}

  /** How a call wants to be answered. */
  enum Form {
    GRPC,
    PROTOBUF,
    JSON
  }

  /** Says that all was taken but so many. */
  static void taken(HttpServerResponse response, Form form, int rejected) {
    byte[] message = rejected == 0 ? new byte[0] : partly(rejected);
    switch (form) {
      case GRPC -> {
        response.putHeader("content-type", "application/grpc").putTrailer("grpc-status", "0");
        response.end(
            Buffer.buffer().appendByte((byte) 0).appendInt(message.length).appendBytes(message));
      }
      case PROTOBUF ->
          response.putHeader("content-type", "application/x-protobuf").end(Buffer.buffer(message));
      case JSON -> json(response, "{}");
    }
  }

  private static byte[] partly(int rejected) {
    return new ProtoWriter()
        .message(
            PARTIAL_SUCCESS,
            new ProtoWriter()
                .number(REJECTED_SPANS, rejected)
                .text(ERROR_MESSAGE, "spans without a valid trace or span id"))
        .toBytes();
  }

  static void refused(HttpServerResponse response, Form form, Refusal refusal) {
    if (response.ended() || response.closed()) {
      return;
    }
    switch (form) {
      case GRPC ->
          // Without a message the status travels in the only block of headers.
          response
              .putHeader("content-type", "application/grpc")
              .putHeader("grpc-status", Integer.toString(refusal.grpcStatus()))
              .putHeader("grpc-message", percentEncoded(refusal.sentence()))
              .end();
      case PROTOBUF ->
          response
              .setStatusCode(refusal.httpStatus())
              .putHeader("content-type", "application/x-protobuf")
              .end(
                  Buffer.buffer(
                      new ProtoWriter()
                          .number(STATUS_CODE, refusal.grpcStatus())
                          .text(STATUS_MESSAGE, refusal.sentence())
                          .toBytes()));
      case JSON -> {
        response.setStatusCode(refusal.httpStatus());
        json(
            response,
            "{\"code\":%d,\"message\":\"%s\"}"
                .formatted(refusal.grpcStatus(), plain(refusal.sentence())));
      }
    }
  }

  private static void json(HttpServerResponse response, String body) {
    response.putHeader("content-type", "application/json").end(body);
  }

  private static String plain(String sentence) {
    return sentence.replaceAll("[^ -!#-\\[\\]-~]", " ");
  }

  /** Text as {@code grpc-message} wants it. */
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
