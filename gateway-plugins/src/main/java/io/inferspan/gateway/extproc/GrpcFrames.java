package io.inferspan.gateway.extproc;

import io.inferspan.gateway.extproc.wire.MalformedMessageException;
import io.vertx.core.buffer.Buffer;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * Cuts the messages out of a stream of gRPC.
 *
 * <p>A message is copied once, out of the pieces that HTTP/2 brought, into an array of its own. The
 * array grows as bytes come: a length that is claimed costs nothing.
 */
final class GrpcFrames {

  private static final int HEAD_BYTES = 5;
  private static final int FIRST_BYTES = 16 * 1024;

  private final int maxMessageBytes;
  private final Queue<Buffer> chunks = new ArrayDeque<>();
  private final byte[] head = new byte[HEAD_BYTES];
  private int waitingBytes;
  private int offset;
  private int headBytes;
  private byte @Nullable [] message;
  private int messageBytes;

  GrpcFrames(int maxMessageBytes) {
    this.maxMessageBytes = maxMessageBytes;
  }

  /** Takes bytes as they come. */
  void append(Buffer bytes) {
    if (bytes.length() > 0) {
      chunks.add(bytes);
      waitingBytes += bytes.length();
    }
  }

  /** Bytes that have come and that nobody has asked for yet. */
  int waitingBytes() {
    return waitingBytes;
  }

  /** Whether nothing of a message is there that is not whole. */
  boolean isBetweenMessages() {
    return chunks.isEmpty() && headBytes == 0;
  }

  /** The next whole message, or null until there is one. */
  @Nullable ByteBuffer next() throws MalformedMessageException {
    while (headBytes < HEAD_BYTES) {
      int taken = takeInto(head, headBytes, HEAD_BYTES - headBytes);
      if (taken == 0) {
        return null;
      }
      headBytes += taken;
    }
    int length = length();
    while (messageBytes < length) {
      byte[] into = grown(length);
      int taken = takeInto(into, messageBytes, Math.min(length, into.length) - messageBytes);
      if (taken == 0) {
        return null;
      }
      messageBytes += taken;
    }
    return whole(length);
  }

  private ByteBuffer whole(int length) {
    byte[] bytes = message;
    message = null;
    messageBytes = 0;
    headBytes = 0;
    return bytes == null ? ByteBuffer.allocate(0) : ByteBuffer.wrap(bytes, 0, length);
  }

  private int length() throws MalformedMessageException {
    if (head[0] != 0) {
      throw new MalformedMessageException("the message is compressed, which was not agreed on");
    }
    int length = ByteBuffer.wrap(head).getInt(1);
    if (length < 0 || length > maxMessageBytes) {
      throw new MalformedMessageException(
          "the message has "
              + Integer.toUnsignedString(length)
              + " bytes, more than "
              + maxMessageBytes);
    }
    return length;
  }

  private byte[] grown(int length) {
    byte[] bytes = message;
    if (bytes == null) {
      bytes = new byte[Math.min(length, FIRST_BYTES)];
    } else if (messageBytes == bytes.length) {
      bytes = Arrays.copyOf(bytes, (int) Math.min(length, bytes.length * 2L));
    }
    message = bytes;
    return bytes;
  }

  private int takeInto(byte[] target, int at, int count) {
    Buffer chunk = chunks.peek();
    if (chunk == null) {
      return 0;
    }
    int taken = Math.min(count, chunk.length() - offset);
    chunk.getBytes(offset, offset + taken, target, at);
    offset += taken;
    waitingBytes -= taken;
    if (offset == chunk.length()) {
      chunks.remove();
      offset = 0;
    }
    return taken;
  }
}
