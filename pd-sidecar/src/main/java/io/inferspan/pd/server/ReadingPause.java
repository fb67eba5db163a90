package io.inferspan.pd.server;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A pause in reading from a client, interrupted by occasional probes.
 *
 * <p>Disconnection can only be detected by reading all data that the client has sent. A probe reads
 * the data that the kernel has buffered, {@link #GLANCE_BYTES}. A client that is still connected
 * refills that buffer, so probes become rare and end.
 */
final class ReadingPause {
  /** The kernel's receive buffer, which would otherwise grow to megabytes without reads. */
  private static final int RECEIVE_BYTES = 128 * 1024;

  /** The kernel doubles the configured size for its own bookkeeping. */
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

  /** Schedules the next probe; each pause is as long as all previous ones together. */
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

  /** Ends the pause, because reading was resumed or the client has disconnected. */
  void end() {
    over = true;
    if (next != null) {
      next.cancel(false);
    }
  }

  void read(int bytes) {
    readBytes += bytes;
  }

  /** Continues reading until the probe has read enough. */
  void readOn() {
    if (!over && readBytes < (long) glances * GLANCE_BYTES) {
      context.read();
    }
  }
}
