package io.inferspan.gateway.vertx;

import io.inferspan.gateway.bytes.PassingBytes;
import io.vertx.core.Handler;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.internal.buffer.BufferInternal;
import io.vertx.core.streams.ReadStream;
import java.nio.ByteBuffer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A stream that reports its pieces, its end and its failure to an observer. */
final class SeenStream implements ReadStream<Buffer> {

  private final ReadStream<Buffer> source;
  private final Watcher watcher;
  private final Consumer<ByteBuffer> eye;

  /** Observes the stream. */
  interface Watcher {
    void piece(ByteBuffer bytes);

    default void ended() {}

    default void failed(Throwable cause) {}
  }

  SeenStream(ReadStream<Buffer> source, Watcher watcher) {
    this.source = source;
    this.watcher = watcher;
    this.eye = watcher::piece;
  }

  @Override
  public SeenStream handler(@Nullable Handler<Buffer> handler) {
    source.handler(
        after(piece -> PassingBytes.show(((BufferInternal) piece).getByteBuf(), eye), handler));
    return this;
  }

  @Override
  public SeenStream endHandler(@Nullable Handler<Void> handler) {
    source.endHandler(after(end -> watcher.ended(), handler));
    return this;
  }

  @Override
  public SeenStream exceptionHandler(@Nullable Handler<Throwable> handler) {
    source.exceptionHandler(after(watcher::failed, handler));
    return this;
  }

  /** Returns a handler that is called after the watcher; null if there is none. */
  private static <T> @Nullable Handler<T> after(Handler<T> watch, @Nullable Handler<T> handler) {
    return handler == null
        ? null
        : event -> {
          watch.handle(event);
          handler.handle(event);
        };
  }

  @Override
  public SeenStream pause() {
    source.pause();
    return this;
  }

  @Override
  public SeenStream resume() {
    source.resume();
    return this;
  }

  @Override
  public SeenStream fetch(long amount) {
    source.fetch(amount);
    return this;
  }
}
