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
        handler == null
            ? null
            : piece -> {
              PassingBytes.show(((BufferInternal) piece).getByteBuf(), eye);
              handler.handle(piece);
            });
    return this;
  }

  @Override
  public SeenStream endHandler(@Nullable Handler<Void> handler) {
    source.endHandler(
        handler == null
            ? null
            : end -> {
              watcher.ended();
              handler.handle(null);
            });
    return this;
  }

  @Override
  public SeenStream exceptionHandler(@Nullable Handler<Throwable> handler) {
    source.exceptionHandler(
        handler == null
            ? null
            : cause -> {
              watcher.failed(cause);
              handler.handle(cause);
            });
    return this;
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
