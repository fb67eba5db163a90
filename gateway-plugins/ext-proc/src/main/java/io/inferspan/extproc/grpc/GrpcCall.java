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
 * A bidirectional streaming gRPC call, on a stream of the Vert.x HTTP/2 server.
 *
 * <p>It runs on the stream's event loop. It stops reading while the receiver is busy or the peer is
 * slow to read.
 */
public final class GrpcCall {

  /** Status for a call that the peer ended without an error. */
  public static final int OK = 0;

  /** Status for an invalid or unexpected message. */
  public static final int INVALID_ARGUMENT = 3;

  static final int NOT_FOUND = 5;

  /** Status for a message that exceeds the limit of held bytes. */
  public static final int RESOURCE_EXHAUSTED = 8;

  /** Status for an unknown method. */
  public static final int UNIMPLEMENTED = 12;

  /** Status for an error of this service. */
  public static final int INTERNAL = 13;

  /**
   * The number of bytes that are read while the receiver is busy, so that a reset by the peer is
   * noticed immediately.
   */
  private static final int MAX_WAITING_BYTES = 64 * 1024;

  /** Receives the messages. */
  public interface Receiver {

    /** Receives a message, which the receiver may keep. */
    void receive(ByteBuffer message) throws MalformedMessageException;

    /**
     * Called when a message is rejected because of its size.
     *
     * @return true if the receiver has sent a response; false to end the call
     */
    default boolean refuses(OversizedMessageException message) {
      return false;
    }

    /** Returns whether the receiver accepts no message until it calls {@link GrpcCall#resume()}. */
    default boolean isBusy() {
      return false;
    }

    /**
     * Called once, when no more messages can be received or sent.
     *
     * @param status the gRPC status with which this side ended the call; {@link #OK} if the peer
     *     ended it
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
   * Creates a call that has just begun.
   *
   * @param budget limits the total size of incomplete messages
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

  /** Starts reading. */
  public void open() {
    response.putHeader("content-type", "application/grpc");
    // The close handler reports a broken stream.
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
      throw new UncheckedIOException("the message is longer than its serialized size", e);
    }
    return Buffer.buffer(frame);
  }

  /** Continues reading, unless the receiver is busy or the peer is slow. */
  public void resume() {
    pump();
    if (!ended && !halfClosed && !receiver.isBusy() && !response.writeQueueFull()) {
      request.resume();
    }
  }

  /** Ends the call with a gRPC status. */
  public void end(int status, String reason) {
    if (ended) {
      return;
    }
    ended = true;
    frames.drop();
    if (!halfClosed) {
      // Read and drop later data, because unread data would occupy the connection's window.
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
    pauseOrEnd();
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

  /** Pauses reading while the receiver is busy, or ends the call if the peer has ended its side. */
  private void pauseOrEnd() {
    if (ended) {
      return;
    }
    if (!halfClosed) {
      if (receiver.isBusy() && frames.waitingBytes() > MAX_WAITING_BYTES) {
        request.pause();
      }
    } else if (!receiver.isBusy()) {
      boolean whole = frames.waitingBytes() == 0;
      end(whole ? OK : INVALID_ARGUMENT, whole ? "" : "the last message is incomplete");
    }
  }

  private void halfClosed() {
    halfClosed = true;
    if (receiver.isBusy()) {
      // If the stream ends while an endpoint is picked, the client has disconnected.
      end(OK, "");
      return;
    }
    pauseOrEnd();
  }

  private void closed() {
    if (!ended) {
      ended = true;
      frames.drop();
      receiver.closed(OK);
    }
  }
}
