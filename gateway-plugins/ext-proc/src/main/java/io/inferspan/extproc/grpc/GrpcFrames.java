package io.inferspan.extproc.grpc;

import io.inferspan.extproc.grpc.OversizedMessageException.Cause;
import io.inferspan.extproc.wire.MalformedMessageException;
import io.vertx.core.buffer.Buffer;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * Splits a gRPC stream into messages.
 *
 * <p>A message is copied once, from HTTP/2's buffers into an array. The array grows as bytes
 * arrive, so a large declared length alone needs no memory. An array above 16 KiB counts as held
 * bytes until the message is delivered.
 */
final class GrpcFrames {

  static final int HEAD_BYTES = 5;
  private static final int FIRST_BYTES = 16 * 1024;

  private final int maxMessageBytes;
  private final HeldBytes budget;
  private final Queue<Buffer> chunks = new ArrayDeque<>();
  private final byte[] head = new byte[HEAD_BYTES];
  private int waitingBytes;
  private int offset;
  private int headBytes;
  private byte @Nullable [] message;
  private int messageBytes;
  private int heldBytes;
  private boolean dropping;

  GrpcFrames(int maxMessageBytes, HeldBytes budget) {
    this.maxMessageBytes = maxMessageBytes;
    this.budget = budget;
  }

  /** Appends received bytes. */
  void append(Buffer bytes) {
    if (bytes.length() > 0 && !dropping) {
      chunks.add(bytes);
      waitingBytes += bytes.length();
    }
  }

  /** Returns the number of bytes that were received and not read yet. */
  int waitingBytes() {
    return waitingBytes;
  }

  /** Returns whether no incomplete message is buffered. */
  boolean isBetweenMessages() {
    return chunks.isEmpty() && headBytes == 0;
  }

  /** Drops all received and future bytes. */
  void drop() {
    dropping = true;
    chunks.clear();
    waitingBytes = 0;
    headBytes = 0;
    release();
  }

  private void release() {
    message = null;
    messageBytes = 0;
    budget.giveBack(heldBytes);
    heldBytes = 0;
  }

  /** Returns the next complete message, or null if there is none yet. */
  @Nullable ByteBuffer next() throws MalformedMessageException, OversizedMessageException {
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
    // From now on, the receiver counts the bytes.
    release();
    headBytes = 0;
    return bytes == null ? ByteBuffer.allocate(0) : ByteBuffer.wrap(bytes, 0, length);
  }

  private int length() throws MalformedMessageException, OversizedMessageException {
    if (head[0] != 0) {
      throw new MalformedMessageException(
          "the message is compressed, but no compression was negotiated");
    }
    int length = ByteBuffer.wrap(head).getInt(1);
    if (length < 0 || length > maxMessageBytes) {
      throw new OversizedMessageException(
          Cause.TOO_LONG,
          "the message has "
              + Integer.toUnsignedString(length)
              + " bytes, more than "
              + maxMessageBytes);
    }
    return length;
  }

  private byte[] grown(int length) throws OversizedMessageException {
    byte[] bytes = message;
    if (bytes == null) {
      bytes = new byte[Math.min(length, FIRST_BYTES)];
    } else if (messageBytes == bytes.length) {
      int size = (int) Math.min(length, bytes.length * 2L);
      hold(size);
      bytes = Arrays.copyOf(bytes, size);
    }
    message = bytes;
    return bytes;
  }

  private void hold(int bytes) throws OversizedMessageException {
    if (!budget.take(bytes - heldBytes)) {
      throw new OversizedMessageException(
          Cause.NO_ROOM, "the message would exceed the limit of held bytes");
    }
    heldBytes = bytes;
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
