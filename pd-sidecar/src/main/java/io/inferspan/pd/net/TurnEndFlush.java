package io.inferspan.pd.net;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.util.concurrent.FastThreadLocal;
import java.util.ArrayDeque;

/**
 * Delays the flushes of a channel until its event loop has handled all events of the turn, and then
 * flushes all channels together.
 *
 * <p>A write wakes up the process that reads it, which costs as much as the write itself. A process
 * that gets several writes at once is woken up once. The first handler of a pipeline.
 */
public final class TurnEndFlush extends ChannelOutboundHandlerAdapter {
  /** So that the first channel of a long turn does not wait for the last one. */
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

    void add(ChannelHandlerContext context) {
      waiting.add(context);
      if (waiting.size() == 1) {
        context.channel().eventLoop().execute(this);
      } else if (waiting.size() == MAX_CHANNELS) {
        run();
      }
    }

    @Override
    public void run() {
      for (var context = waiting.poll(); context != null; context = waiting.poll()) {
        ((TurnEndFlush) context.handler()).flushNow(context);
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

  @Override
  public void close(ChannelHandlerContext context, ChannelPromise promise) {
    if (due) {
      flushNow(context);
    }
    context.close(promise);
  }
}
