package io.inferspan.extproc.grpc;

import io.inferspan.extproc.grpc.OversizedMessageException.Cause;
import io.inferspan.extproc.wire.MalformedMessageException;
import io.vertx.core.buffer.Buffer;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Splits a gRPC stream into messages.
 *
 * <p>The array of received bytes grows as bytes arrive, so a large declared length alone needs no
 * memory. While a message is incomplete, an array above 16 KiB counts as held bytes.
 */
final class GrpcFrames {

  static final int HEAD_BYTES = 5;
  private static final int UNCOUNTED_BYTES = 16 * 1024;
  private static final byte[] NOTHING = {};

  private final int maxMessageBytes;
  private final HeldBytes budget;
  private byte[] received = NOTHING;
  private int from;
  private int to;
  private int heldBytes;
  private boolean dropping;

  GrpcFrames(int maxMessageBytes, HeldBytes budget) {
    this.maxMessageBytes = maxMessageBytes;
    this.budget = budget;
  }

  /** Appends received bytes. */
  void append(Buffer bytes) {
    if (dropping) {
      return;
    }
    if (bytes.length() > received.length - to) {
      int waiting = waitingBytes();
      int doubled = (int) Math.min(2L * waiting, HEAD_BYTES + maxMessageBytes);
      byte[] larger = new byte[Math.max(doubled, waiting + bytes.length())];
      System.arraycopy(received, from, larger, 0, waiting);
      received = larger;
      from = 0;
      to = waiting;
    }
    bytes.getBytes(received, to);
    to += bytes.length();
  }

  /** Returns the number of bytes that were received and not read yet. */
  int waitingBytes() {
    return to - from;
  }

  /** Drops all received and future bytes. */
  void drop() {
    dropping = true;
    received = NOTHING;
    from = 0;
    to = 0;
    releaseHeld();
  }

  private void releaseHeld() {
    budget.release(heldBytes);
    heldBytes = 0;
  }

  /** Returns the next complete message, or null if there is none yet. */
  @Nullable ByteBuffer next() throws MalformedMessageException, OversizedMessageException {
    if (waitingBytes() < HEAD_BYTES) {
      return null;
    }
    int length = length();
    if (waitingBytes() - HEAD_BYTES < length) {
      hold(received.length);
      return null;
    }
    // From now on, the receiver counts the bytes.
    releaseHeld();
    int start = from + HEAD_BYTES;
    from = start + length;
    ByteBuffer message = ByteBuffer.wrap(Arrays.copyOfRange(received, start, from));
    if (waitingBytes() <= from) {
      // Frees the array of a large message. The copied rest is at most as long as the bytes that
      // were delivered.
      received = Arrays.copyOfRange(received, from, to);
      to -= from;
      from = 0;
    }
    return message;
  }

  private int length() throws MalformedMessageException, OversizedMessageException {
    if (received[from] != 0) {
      throw new MalformedMessageException(
          "the message is compressed, but no compression was negotiated");
    }
    int length = ByteBuffer.wrap(received).getInt(from + 1);
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

  private void hold(int bytes) throws OversizedMessageException {
    if (bytes <= UNCOUNTED_BYTES) {
      return;
    }
    if (!budget.reserve(bytes - heldBytes)) {
      throw new OversizedMessageException(
          Cause.NO_ROOM, "the message would exceed the limit of held bytes");
    }
    heldBytes = bytes;
  }
}
