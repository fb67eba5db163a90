package io.inferspan.pd.server;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.util.concurrent.Future;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Detects HTTP/2 by the fixed first line of a plain connection. */
final class PrefaceDetector extends ByteToMessageDecoder {
  private static final long FIRST_BYTES_SECONDS = 30;
  private static final byte[] PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(US_ASCII);

  private final HttpListener listener;
  private @Nullable Future<?> silence;

  PrefaceDetector(HttpListener listener) {
    this.listener = listener;
  }

  @Override
  public void handlerAdded(ChannelHandlerContext context) {
    silence =
        context.executor().schedule(() -> context.close(), FIRST_BYTES_SECONDS, TimeUnit.SECONDS);
  }

  @Override
  protected void handlerRemoved0(ChannelHandlerContext context) {
    if (silence != null) {
      silence.cancel(false);
    }
  }

  @Override
  protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out) {
    int known = Math.min(in.readableBytes(), PREFACE.length);
    for (int i = 0; i < known; i++) {
      if (in.getByte(in.readerIndex() + i) != PREFACE[i]) {
        listener.serve(context.channel(), false);
        context.pipeline().remove(this);
        return;
      }
    }
    if (known == PREFACE.length) {
      listener.serve(context.channel(), true);
      context.pipeline().remove(this);
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    context.close();
  }
}
