package io.inferspan.gateway.vertx;

import io.netty.buffer.ByteBuf;
import io.vertx.core.Handler;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.internal.buffer.BufferInternal;
import io.vertx.core.streams.ReadStream;
import java.nio.ByteBuffer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A stream whose pieces, end and failure somebody sees while they pass. */
final class SeenStream implements ReadStream<Buffer> {

  private final ReadStream<Buffer> source;
  private final Watcher watcher;

  /** Who sees. */
  interface Watcher {
    void piece(ByteBuffer bytes);

    default void ended() {}

    default void failed(Throwable cause) {}
  }

  SeenStream(ReadStream<Buffer> source, Watcher watcher) {
    this.source = source;
    this.watcher = watcher;
  }

  @Override
  public SeenStream handler(@Nullable Handler<Buffer> handler) {
    source.handler(
        handler == null
            ? null
            : piece -> {
              show(piece, watcher::piece);
              handler.handle(piece);
            });
    return this;
  }

  private static void show(Buffer piece, Consumer<ByteBuffer> to) {
    ByteBuf bytes = ((BufferInternal) piece).getByteBuf();
    if (bytes.nioBufferCount() == 1) {
      to.accept(bytes.nioBuffer());
      return;
    }
    for (ByteBuffer part : bytes.nioBuffers()) {
      to.accept(part);
    }
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
