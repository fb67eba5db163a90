package io.inferspan.gateway.vertx;

import io.inferspan.gateway.bytes.NioBuffers;
import io.vertx.core.Handler;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.internal.buffer.BufferInternal;
import io.vertx.core.streams.ReadStream;
import java.nio.ByteBuffer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A stream that reports its pieces, its end and its failure to an observer. */
final class ObservedStream implements ReadStream<Buffer> {

  private final ReadStream<Buffer> source;
  private final Observer observer;
  private final Consumer<ByteBuffer> pieceObserver;

  /** Observes the stream. */
  interface Observer {
    void piece(ByteBuffer bytes);

    default void ended() {}

    default void failed(Throwable cause) {}
  }

  ObservedStream(ReadStream<Buffer> source, Observer observer) {
    this.source = source;
    this.observer = observer;
    this.pieceObserver = observer::piece;
  }

  @Override
  public ObservedStream handler(@Nullable Handler<Buffer> handler) {
    source.handler(
        after(
            piece -> NioBuffers.forEach(((BufferInternal) piece).getByteBuf(), pieceObserver),
            handler));
    return this;
  }

  @Override
  public ObservedStream endHandler(@Nullable Handler<Void> handler) {
    source.endHandler(after(end -> observer.ended(), handler));
    return this;
  }

  @Override
  public ObservedStream exceptionHandler(@Nullable Handler<Throwable> handler) {
    source.exceptionHandler(after(observer::failed, handler));
    return this;
  }

  /** Returns a handler that is called after the observer; null if there is none. */
  private static <T> @Nullable Handler<T> after(
      Handler<T> observation, @Nullable Handler<T> handler) {
    return handler == null
        ? null
        : event -> {
          observation.handle(event);
          handler.handle(event);
        };
  }

  @Override
  public ObservedStream pause() {
    source.pause();
    return this;
  }

  @Override
  public ObservedStream resume() {
    source.resume();
    return this;
  }

  @Override
  public ObservedStream fetch(long amount) {
    source.fetch(amount);
    return this;
  }
}
