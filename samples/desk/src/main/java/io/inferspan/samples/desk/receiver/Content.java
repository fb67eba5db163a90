package io.inferspan.samples.desk.receiver;

import io.inferspan.samples.desk.otlp.Drop;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;

/** Extracts the message from a request body: removes the gRPC frame and decompresses. */
final class Content {

  /** The maximum size of a body, both before and after decompression. */
  static final int MAX_BYTES = 32 << 20;

  private static final int FRAME_HEAD_BYTES = 5;

  private Content() {}

  /** Returns the message of a unary gRPC call, whose body must be one complete frame. */
  static byte[] ofFrame(byte[] body, @Nullable String encoding) throws RefusedException {
    if (body.length < FRAME_HEAD_BYTES) {
      throw malformed(
          "the gRPC frame is incomplete: the body ends after " + body.length + " bytes");
    }
    int length = ByteBuffer.wrap(body).getInt(1);
    if (length != body.length - FRAME_HEAD_BYTES) {
      throw malformed(
          "the gRPC frame has %s bytes, but the body has %d"
              .formatted(Integer.toUnsignedString(length), body.length));
    }
    byte[] message = Arrays.copyOfRange(body, FRAME_HEAD_BYTES, body.length);
    return switch (body[0]) {
      case 0 -> message;
      case 1 -> unpacked(message, encoding);
      default -> throw malformed("the gRPC frame has the unknown flag " + body[0]);
    };
  }

  /** Returns the bytes, decompressed according to the encoding. */
  static byte[] unpacked(byte[] bytes, @Nullable String encoding) throws RefusedException {
    if (encoding == null || encoding.isEmpty() || encoding.equalsIgnoreCase("identity")) {
      return bytes;
    }
    if (!encoding.equalsIgnoreCase("gzip")) {
      throw malformed("the encoding must be gzip or identity");
    }
    byte[] message;
    try (InputStream in = new GZIPInputStream(new ByteArrayInputStream(bytes), 8192)) {
      message = in.readNBytes(MAX_BYTES + 1);
    } catch (IOException e) {
      throw malformed("cannot decompress the message: " + e.getMessage());
    }
    if (message.length > MAX_BYTES) {
      throw new RefusedException(Refusal.tooLarge(MAX_BYTES), Drop.CALL_TOO_LARGE);
    }
    return message;
  }

  private static RefusedException malformed(String why) {
    return new RefusedException(Refusal.malformed(why), Drop.MALFORMED_CALL);
  }
}
