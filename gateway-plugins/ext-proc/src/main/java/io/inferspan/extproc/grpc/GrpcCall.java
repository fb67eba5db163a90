package io.inferspan.extproc.grpc;

import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.MessageLite;
import io.inferspan.extproc.wire.MalformedMessageException;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One call of gRPC that streams both ways, on a stream of the Vert.x HTTP/2 server.
 *
 * <p>All of it runs on the stream's event loop. It reads no further while the receiver is busy or
 * the peer is slow to read.
 */
public final class GrpcCall {

  /** The peer ended the call, and all went well. */
  public static final int OK = 0;

  /** Status for an invalid or unexpected message. */
  public static final int INVALID_ARGUMENT = 3;

  static final int NOT_FOUND = 5;

  /** There is no room for what came. */
  public static final int RESOURCE_EXHAUSTED = 8;

  /** There is no such method. */
  public static final int UNIMPLEMENTED = 12;

  /** We failed. */
  public static final int INTERNAL = 13;

  /**
   * The bytes that may queue up while the receiver is busy; up to this, a reset by the peer is
   * noticed at once.
   */
  private static final int MAX_WAITING_BYTES = 64 * 1024;

  /** Receives the messages. */
  public interface Receiver {

    /** Takes a message, which is its own. */
    void receive(ByteBuffer message) throws MalformedMessageException;

    /**
     * A message is not let in.
     *
     * @return whether that is answered, so that nothing more need come; else the call ends
     */
    default boolean refuses(OversizedMessageException message) {
      return false;
    }

    /** Returns whether it accepts no message now; it calls {@link #resume()} when it does again. */
    default boolean isBusy() {
      return false;
    }

    /**
     * Nothing more comes, and nothing more can be sent; called once.
     *
     * @param status of gRPC, with which it was ended from here; {@link #OK} where the peer ended it
     */
    default void closed(int status) {}
  }

  private final HttpServerRequest request;
  private final HttpServerResponse response;
  private final GrpcFrames frames;
  private final Receiver receiver;
  private boolean ended;
  private boolean halfClosed;

  /**
   * A call that has just begun.
   *
   * @param budget what counts the bytes of messages that still come
   */
  public GrpcCall(
      HttpServerRequest request,
      int maxMessageBytes,
      HeldBytes budget,
      Function<GrpcCall, Receiver> receiver) {
    this.request = request;
    this.response = request.response();
    this.frames = new GrpcFrames(maxMessageBytes, budget);
    this.receiver = receiver.apply(this);
  }

  /** Begins to read. */
  public void open() {
    response.putHeader("content-type", "application/grpc");
    // A broken stream ends in its close handler, which reports it.
    request.exceptionHandler(broken -> closed());
    response.exceptionHandler(broken -> closed());
    response.closeHandler(closed -> closed());
    request.handler(this::data);
    request.endHandler(end -> halfClosed());
  }

  /** Sends a message. */
  public void send(MessageLite message) {
    if (ended) {
      return;
    }
    response.write(framed(message));
    if (response.writeQueueFull() && !halfClosed) {
      request.pause();
      response.drainHandler(drained -> resume());
    }
  }

  private static Buffer framed(MessageLite message) {
    int length = message.getSerializedSize();
    byte[] frame = new byte[GrpcFrames.HEAD_BYTES + length];
    ByteBuffer.wrap(frame).putInt(1, length);
    try {
      message.writeTo(CodedOutputStream.newInstance(frame, GrpcFrames.HEAD_BYTES, length));
    } catch (IOException e) {
      throw new UncheckedIOException("the array is too small for the measured message", e);
    }
    return Buffer.buffer(frame);
  }

  /** Goes on reading, unless there is cause to wait. */
  public void resume() {
    pump();
    if (!ended && !halfClosed && !receiver.isBusy() && !response.writeQueueFull()) {
      request.resume();
    }
  }

  /** Ends the call with a status of gRPC. */
  public void end(int status, String reason) {
    if (ended) {
      return;
    }
    ended = true;
    frames.drop();
    if (!halfClosed) {
      // What still comes is let in and dropped; unread, it would hold the connection's window.
      request.resume();
    }
    response.putTrailer("grpc-status", Integer.toString(status));
    if (!reason.isEmpty()) {
      response.putTrailer("grpc-message", reason);
    }
    response.end();
    receiver.closed(status);
  }

  private void data(Buffer bytes) {
    if (ended) {
      return;
    }
    frames.append(bytes);
    pump();
  }

  private void pump() {
    try {
      receive();
    } catch (MalformedMessageException e) {
      end(INVALID_ARGUMENT, e.reason());
    } catch (RuntimeException e) {
      end(INTERNAL, e.getClass().getSimpleName());
    }
    settle();
  }

  private void receive() throws MalformedMessageException {
    try {
      ByteBuffer message = next();
      while (message != null) {
        receiver.receive(message);
        message = next();
      }
    } catch (OversizedMessageException e) {
      refuse(e);
    }
  }

  private @Nullable ByteBuffer next() throws MalformedMessageException, OversizedMessageException {
    return ended || receiver.isBusy() ? null : frames.next();
  }

  private void refuse(OversizedMessageException message) {
    if (receiver.refuses(message)) {
      frames.drop();
    } else {
      boolean full = message.why() == OversizedMessageException.Cause.NO_ROOM;
      end(full ? RESOURCE_EXHAUSTED : INVALID_ARGUMENT, String.valueOf(message.getMessage()));
    }
  }

  /** Waits with reading while the receiver is busy, or ends where the peer has said all. */
  private void settle() {
    if (ended) {
      return;
    }
    if (!halfClosed) {
      if (receiver.isBusy() && frames.waitingBytes() > MAX_WAITING_BYTES) {
        request.pause();
      }
    } else if (!receiver.isBusy()) {
      boolean whole = frames.isBetweenMessages();
      end(whole ? OK : INVALID_ARGUMENT, whole ? "" : "the last message is cut off");
    }
  }

  private void halfClosed() {
    halfClosed = true;
    if (receiver.isBusy()) {
      // A client that ends its side while we choose has gone: Envoy ends the stream with its
      // request.
      end(OK, "");
      return;
    }
    settle();
  }

  private void closed() {
    if (!ended) {
      ended = true;
      frames.drop();
      receiver.closed(OK);
    }
  }
}
