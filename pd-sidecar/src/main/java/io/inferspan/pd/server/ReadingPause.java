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
 * the data that the kernel has buffered, up to {@link #PROBE_BYTES}. A client that is still
 * connected refills the buffer, so each probe stores more data. Therefore probes become rare, and
 * end after {@link #MAX_PROBES}.
 */
final class ReadingPause {
  /** The size of the kernel's receive buffer, which could otherwise grow to megabytes. */
  private static final int RECEIVE_BYTES = 128 * 1024;

  /** The kernel doubles the configured size for its own bookkeeping. */
  private static final int PROBE_BYTES = 2 * RECEIVE_BYTES;

  private static final int MAX_PROBES = 6;
  private static final long FIRST_PROBE_MILLIS = 500;

  /** Null unless reading is paused. */
  private @Nullable ChannelHandlerContext paused;

  private long readBytes;
  private int probes;
  private @Nullable ScheduledFuture<?> next;

  /** Begins the pause, unless it has begun. */
  void begin(ChannelHandlerContext context) {
    if (paused == null) {
      paused = context;
      readBytes = 0;
      probes = 0;
      probeLater(context);
    }
  }

  /** Schedules the next probe. The delay before it equals the sum of all previous delays. */
  private void probeLater(ChannelHandlerContext context) {
    if (probes < MAX_PROBES) {
      long delay = FIRST_PROBE_MILLIS << Math.max(0, probes - 1);
      next = context.executor().schedule(() -> probe(context), delay, TimeUnit.MILLISECONDS);
    }
  }

  private void probe(ChannelHandlerContext context) {
    probes++;
    if (paused != null && context.channel().isOpen()) {
      context.channel().config().setOption(ChannelOption.SO_RCVBUF, RECEIVE_BYTES);
      readOn();
      probeLater(context);
    }
  }

  /** Ends the pause, because reading was resumed or the client has disconnected. */
  void end() {
    paused = null;
    if (next != null) {
      next.cancel(false);
      next = null;
    }
  }

  void read(int bytes) {
    readBytes += bytes;
  }

  /** Continues reading until the probe has read enough. */
  void readOn() {
    if (paused != null && readBytes < (long) probes * PROBE_BYTES) {
      paused.read();
    }
  }
}
