package io.inferspan.pd.request;

import io.inferspan.pd.json.JsonPieces;
import io.inferspan.pd.memory.HeldBodies;
import io.inferspan.pd.memory.HeldBody;
import io.inferspan.pd.upstream.EngineCall;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import org.jspecify.annotations.Nullable;

/**
 * Writes a request in slices, as its connection accepts them.
 *
 * <p>It holds the client's body, and can send it again, until the body is released.
 */
public final class RequestWriter {
  private static final int SLICE_BYTES = 256 * 1024;

  /** The size written even if the budget is used up, so that each request makes progress. */
  private static final int SMALLEST_SLICE_BYTES = 16 * 1024;

  private final HttpRequest head;
  private final HeldBodies bodies;
  private @Nullable HeldBody held;
  private @Nullable JsonPieces body;
  private @Nullable EngineCall call;
  private JsonPieces.@Nullable Reader unwritten;
  private boolean written;
  private boolean once;
  private boolean writing;

  /**
   * Creates a writer for a request.
   *
   * @param held the holder of the bytes of {@code body}, which this releases; null for none
   */
  public RequestWriter(
      HeldBodies bodies, @Nullable HeldBody held, HttpRequest head, JsonPieces body) {
    this.bodies = bodies;
    this.held = held;
    this.head = head;
    this.body = body;
  }

  /** Releases the body when it is written, because the request will not be sent again. */
  void onlyOnce() {
    once = true;
    if (written) {
      release();
    }
  }

  /** Begins to write the request; returns false if its body was released. */
  boolean send(EngineCall connected) {
    JsonPieces sent = body;
    if (sent == null) {
      return false;
    }
    call = connected;
    unwritten = sent.reader();
    connected.send(head);
    resume();
    return true;
  }

  /** Continues writing, as far as the connection accepts it. */
  void resume() {
    EngineCall connected = call;
    if (writing || connected == null) {
      return;
    }
    writing = true;
    while (unwritten != null && connected.writable()) {
      write(connected, unwritten);
    }
    writing = false;
  }

  private void write(EngineCall connected, JsonPieces.Reader rest) {
    int size = Math.min(rest.left(), SLICE_BYTES);
    if (!bodies.hasRoom(size)) {
      size = Math.min(size, SMALLEST_SLICE_BYTES);
    }
    if (size > 0) {
      writeSlice(connected, rest, size);
    }
    if (rest.left() == 0) {
      unwritten = null;
      written = true;
      connected.finish(EmptyHttpHeaders.INSTANCE);
      if (once) {
        release();
      }
    }
    connected.flush();
  }

  private void writeSlice(EngineCall connected, JsonPieces.Reader rest, int size) {
    // Each transport copies data outside direct memory, at the same total cost but all at once.
    ByteBuf slice = PooledByteBufAllocator.DEFAULT.directBuffer(size);
    rest.read(size, slice);
    bodies.add(size);
    connected.write(slice, () -> bodies.give(size));
  }

  /** Releases the body; the rest will not be written. */
  void release() {
    body = null;
    unwritten = null;
    if (held != null) {
      held.release();
      held = null;
    }
  }
}
