package io.inferspan.pd.server;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.handler.codec.http.HttpContent;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A time in which nothing is to be read from a client, but for a glance now and then.
 *
 * <p>That a client has left comes behind all that it sent before, so nobody who does not read hears
 * of it. A glance takes what the kernel can hold, {@link #GLANCE_BYTES}; a client that is still
 * there sends as much again, so glances become rare and end.
 */
final class ReadingPause {
  /** What the kernel may go on to hold: it would grow to megabytes while nobody reads. */
  private static final int RECEIVE_BYTES = 128 * 1024;

  /** The kernel takes twice what it is told, for its own records. */
  private static final int GLANCE_BYTES = 2 * RECEIVE_BYTES;

  private static final int MAX_GLANCES = 6;
  private static final long FIRST_GLANCE_MILLIS = 500;

  private final ChannelHandlerContext context;
  private long readBytes;
  private int glances;
  private boolean over;
  private @Nullable ScheduledFuture<?> next;

  ReadingPause(ChannelHandlerContext context) {
    this.context = context;
    glanceLater();
  }

  /** Each pause is as long again as all before it. */
  private void glanceLater() {
    if (glances < MAX_GLANCES) {
      long delay = FIRST_GLANCE_MILLIS << Math.max(0, glances - 1);
      next = context.executor().schedule(this::glance, delay, TimeUnit.MILLISECONDS);
    }
  }

  private void glance() {
    glances++;
    if (!over && context.channel().isOpen()) {
      context.channel().config().setOption(ChannelOption.SO_RCVBUF, RECEIVE_BYTES);
      readOn();
      glanceLater();
    }
  }

  /** All is read again, or there is nobody left to read from. */
  void end() {
    over = true;
    if (next != null) {
      next.cancel(false);
    }
  }

  /** Something was read. */
  void read(Object part) {
    readBytes +=
        switch (part) {
          case ByteBuf bytes -> bytes.readableBytes();
          case HttpContent content -> content.content().readableBytes();
          default -> 0;
        };
  }

  /** Goes on reading until the glance has seen enough. */
  void readOn() {
    if (!over && readBytes < (long) glances * GLANCE_BYTES) {
      context.read();
    }
  }
}
