package io.inferspan.pd.net;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.util.concurrent.FastThreadLocal;
import java.util.ArrayDeque;

/**
 * Delays the flushes of a channel to the end of its event loop's turn, which is one pass over all
 * ready events, and then flushes all channels together. A channel that is not writable, or that
 * replies to data it has just read, is flushed earlier.
 *
 * <p>A write wakes up the process that reads it, which costs as much as the write itself. A process
 * that gets several writes at once is woken up once. This must be the first handler of a pipeline.
 */
public final class TurnEndFlush extends ChannelDuplexHandler {
  /** The maximum number of waiting channels, so that the first does not wait long for the last. */
  static final int MAX_CHANNELS = 32;

  private static final FastThreadLocal<Turn> TURN =
      new FastThreadLocal<>() {
        @Override
        protected Turn initialValue() {
          return new Turn();
        }
      };

  private boolean due;

  /** The channels of one event loop that wait for the end of its turn. */
  private static final class Turn implements Runnable {
    private final ArrayDeque<ChannelHandlerContext> waiting = new ArrayDeque<>(MAX_CHANNELS);

    private boolean queued;

    void add(ChannelHandlerContext context) {
      waiting.add(context);
      if (waiting.size() >= MAX_CHANNELS) {
        flushAll();
      } else if (!queued) {
        queue(context);
      }
    }

    private void queue(ChannelHandlerContext context) {
      context.channel().eventLoop().execute(this);
      queued = true;
    }

    @Override
    public void run() {
      queued = false;
      try {
        flushAll();
      } finally {
        if (!queued && !waiting.isEmpty()) {
          queue(waiting.getFirst());
        }
      }
    }

    private void flushAll() {
      for (var context = waiting.poll(); context != null; context = waiting.poll()) {
        ((TurnEndFlush) context.handler()).flushIfDue(context);
      }
    }
  }

  @Override
  public void flush(ChannelHandlerContext context) {
    if (!context.channel().isWritable()) {
      flushNow(context);
    } else if (!due) {
      due = true;
      TURN.get().add(context);
    }
  }

  private void flushNow(ChannelHandlerContext context) {
    due = false;
    context.flush();
  }

  private void flushIfDue(ChannelHandlerContext context) {
    if (due) {
      flushNow(context);
    }
  }

  /**
   * Flushes replies to the data that was just read: the transport may find the end of the input
   * next, and then closes the channel without calling the pipeline. With io_uring, {@link
   * #channelReadComplete} would be too late, because io_uring reads on before it completes a read.
   * Proxied data is not affected: it is written while another channel reads.
   */
  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    context.fireChannelRead(message);
    flushIfDue(context);
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    context.fireChannelReadComplete();
    flushIfDue(context);
  }

  @Override
  public void close(ChannelHandlerContext context, ChannelPromise promise) {
    flushIfDue(context);
    context.close(promise);
  }
}
