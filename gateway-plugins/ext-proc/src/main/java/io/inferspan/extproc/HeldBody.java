package io.inferspan.extproc;

import io.inferspan.extproc.grpc.HeldBytes;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The body of a request, buffered in the received pieces while its endpoint is picked.
 *
 * <p>The size of each body and the size of all bodies together are limited.
 */
final class HeldBody {

  private final HeldBytes budget;
  private final int maxBytes;
  private final List<ByteBuffer> pieces = new ArrayList<>();
  private int bytes;

  HeldBody(HeldBytes budget, int maxBytes) {
    this.budget = budget;
    this.maxBytes = maxBytes;
  }

  /** Adds a piece; returns an error response if it exceeds a limit. */
  @Nullable Refusal add(ByteBuffer piece) {
    int more = piece.remaining();
    if (more == 0) {
      return null;
    }
    if (more > maxBytes - bytes) {
      return Refusal.BODY_TOO_LARGE;
    }
    if (!budget.reserve(more)) {
      return Refusal.NO_ROOM;
    }
    bytes += more;
    pieces.add(piece);
    return null;
  }

  int bytes() {
    return bytes;
  }

  List<ByteBuffer> pieces() {
    return pieces;
  }

  /** Returns the whole body in one array, for plugins that hash it. */
  byte[] toArray() {
    byte[] all = new byte[bytes];
    int at = 0;
    for (ByteBuffer piece : pieces) {
      piece.get(piece.position(), all, at, piece.remaining());
      at += piece.remaining();
    }
    return all;
  }

  void release() {
    budget.release(bytes);
    bytes = 0;
    pieces.clear();
  }
}
