package io.inferspan.testing.otlp;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.UnknownFieldSet;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;

/** Encodes and decodes gRPC frames, compression and error bodies of OTLP. */
final class OtlpWire {
  /** The size limit of a decompressed message. */
  static final int MAX_MESSAGE_BYTES = OtlpReceiver.MAX_RETAINED_BYTES;

  private static final int FRAME_HEADER_BYTES = 5;

  private OtlpWire() {}

  /** Returns whether a content coding is gzip; OTLP has no other. */
  static boolean isGzip(@Nullable String encoding) throws InvalidProtocolBufferException {
    if (encoding == null || encoding.isEmpty() || encoding.equalsIgnoreCase("identity")) {
      return false;
    }
    if (encoding.equalsIgnoreCase("gzip")) {
      return true;
    }
    throw malformed("the encoding must be gzip or identity, not " + encoding);
  }

  /** Returns the message in a unary call's body, which must be exactly one frame. */
  static byte[] unframe(byte[] body, @Nullable String encoding)
      throws InvalidProtocolBufferException {
    boolean isGzip = isGzip(encoding);
    if (body.length < FRAME_HEADER_BYTES) {
      throw malformed("the gRPC frame ends after " + body.length + " bytes, within its header");
    }
    int flag = body[0];
    int length = ByteBuffer.wrap(body).getInt(1);
    if (length != body.length - FRAME_HEADER_BYTES) {
      throw malformed(
          "the gRPC frame header says %d bytes, but %d follow"
              .formatted(length, body.length - FRAME_HEADER_BYTES));
    }
    byte[] message = Arrays.copyOfRange(body, FRAME_HEADER_BYTES, body.length);
    return switch (flag) {
      case 0 -> message;
      case 1 -> isGzip ? expand(message) : message;
      default -> throw malformed("the gRPC frame has the unknown flag " + flag);
    };
  }

  static byte[] frame(byte[] message) {
    return ByteBuffer.allocate(FRAME_HEADER_BYTES + message.length)
        .put((byte) 0)
        .putInt(message.length)
        .put(message)
        .array();
  }

  static byte[] expand(byte[] bytes, @Nullable String encoding)
      throws InvalidProtocolBufferException {
    return isGzip(encoding) ? expand(bytes) : bytes;
  }

  private static byte[] expand(byte[] bytes) throws InvalidProtocolBufferException {
    byte[] message;
    try (InputStream in = new GZIPInputStream(new ByteArrayInputStream(bytes))) {
      message = in.readNBytes(MAX_MESSAGE_BYTES + 1);
    } catch (IOException e) {
      throw malformed("the message is not gzip: " + e.getMessage());
    }
    if (message.length > MAX_MESSAGE_BYTES) {
      throw malformed("the message is larger than " + MAX_MESSAGE_BYTES + " bytes");
    }
    return message;
  }

  /** Returns a {@code google.rpc.Status}, the body of an OTLP/HTTP error. */
  static byte[] status(int code, String message) {
    return UnknownFieldSet.newBuilder()
        .addField(1, UnknownFieldSet.Field.newBuilder().addVarint(code).build())
        .addField(
            2,
            UnknownFieldSet.Field.newBuilder()
                .addLengthDelimited(ByteString.copyFromUtf8(message))
                .build())
        .build()
        .toByteArray();
  }

  private static InvalidProtocolBufferException malformed(String why) {
    return new InvalidProtocolBufferException(why);
  }

  /** Encodes a text for {@code grpc-message}: printable ASCII, the rest percent-encoded. */
  static String percentEncode(String text) {
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
