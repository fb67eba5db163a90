package io.inferspan.pd.otlp;

import io.opentelemetry.sdk.common.export.GrpcResponse;
import io.opentelemetry.sdk.common.export.GrpcStatusCode;
import io.vertx.core.buffer.Buffer;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a gRPC server said, wherever in the HTTP response it said it.
 *
 * @param code the status
 * @param description the status in words
 * @param message the message of the only frame, empty where there is none
 */
@SuppressWarnings("ArrayRecordComponent") // The SPI wants an array; nobody compares replies.
record GrpcReply(GrpcStatusCode code, String description, byte[] message) implements GrpcResponse {

  private static final byte[] NO_MESSAGE = {};
  private static final int HTTP_OK = 200;

  /** Those which the OTLP specification has clients call again after. */
  private static final Set<GrpcStatusCode> PASSING =
      Set.of(
          GrpcStatusCode.CANCELLED,
          GrpcStatusCode.DEADLINE_EXCEEDED,
          GrpcStatusCode.RESOURCE_EXHAUSTED,
          GrpcStatusCode.ABORTED,
          GrpcStatusCode.OUT_OF_RANGE,
          GrpcStatusCode.UNAVAILABLE,
          GrpcStatusCode.DATA_LOSS);

  static GrpcReply of(CollectorReply reply) {
    if (reply.truncated()) {
      return new GrpcReply(
          GrpcStatusCode.RESOURCE_EXHAUSTED,
          "The collector's answer is larger than allowed",
          NO_MESSAGE);
    }
    return new GrpcReply(statusCode(reply), words(reply), message(reply.body()));
  }

  /** Whether the same call may end otherwise a little later. */
  static boolean mayPass(CollectorReply reply) {
    return !reply.truncated() && PASSING.contains(statusCode(reply));
  }

  private static GrpcStatusCode statusCode(CollectorReply reply) {
    String status = reply.field("grpc-status");
    if (status == null) {
      return fromHttp(reply.status());
    }
    try {
      return GrpcStatusCode.fromValue(Integer.parseInt(status));
    } catch (NumberFormatException e) {
      return GrpcStatusCode.UNKNOWN;
    }
  }

  /** What gRPC makes of an answer that something other than a gRPC server gave. */
  private static GrpcStatusCode fromHttp(int status) {
    return switch (status) {
      case 400 -> GrpcStatusCode.INTERNAL;
      case 401 -> GrpcStatusCode.UNAUTHENTICATED;
      case 403 -> GrpcStatusCode.PERMISSION_DENIED;
      case 404 -> GrpcStatusCode.UNIMPLEMENTED;
      case 429, 502, 503, 504 -> GrpcStatusCode.UNAVAILABLE;
      default -> GrpcStatusCode.UNKNOWN;
    };
  }

  private static String words(CollectorReply reply) {
    String escaped = reply.field("grpc-message");
    if (escaped != null) {
      return unescaped(escaped);
    }
    return reply.status() == HTTP_OK ? "" : "HTTP status " + reply.status();
  }

  /** Undoes the percent encoding; what is not well-formed stays as it is. */
  static String unescaped(String text) {
    if (text.indexOf('%') < 0) {
      return text;
    }
    byte[] escaped = text.getBytes(StandardCharsets.UTF_8);
    byte[] plain = new byte[escaped.length];
    int length = 0;
    for (int i = 0; i < escaped.length; i++) {
      int value = escaped[i] == '%' ? hexByte(escaped, i + 1) : -1;
      plain[length++] = value < 0 ? escaped[i] : (byte) value;
      i += value < 0 ? 0 : 2;
    }
    return new String(plain, 0, length, StandardCharsets.UTF_8);
  }

  private static int hexByte(byte[] text, int at) {
    if (at + 1 >= text.length) {
      return -1;
    }
    int high = Character.digit(text[at], 16);
    int low = Character.digit(text[at + 1], 16);
    return high < 0 || low < 0 ? -1 : high << 4 | low;
  }

  /** Empty also where it is compressed, which we never ask for. */
  private static byte[] message(Buffer body) {
    boolean whole = body.length() >= MessageBody.GRPC_HEADER_BYTES && body.getByte(0) == 0;
    return whole ? body.getBytes(MessageBody.GRPC_HEADER_BYTES, body.length()) : NO_MESSAGE;
  }

  @Override
  public GrpcStatusCode getStatusCode() {
    return code;
  }

  @Override
  public @Nullable String getStatusDescription() {
    return description;
  }

  @Override
  public byte[] getResponseMessage() {
    return message;
  }
}
