package io.inferspan.pd.net;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.embedded.EmbeddedChannel;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class TurnEndFlushTest {
  private final EmbeddedChannel channel = new EmbeddedChannel(new TurnEndFlush());

  @AfterEach
  void endTurn() {
    channel.runPendingTasks();
  }

  private static void send(EmbeddedChannel channel, String text) {
    // Not with the channel's own methods, which end the turn.
    channel.pipeline().write(Unpooled.copiedBuffer(text, US_ASCII));
    channel.pipeline().flush();
  }

  private static @Nullable String sent(EmbeddedChannel channel) {
    ByteBuf next = channel.readOutbound();
    try {
      return next == null ? null : next.toString(US_ASCII);
    } finally {
      if (next != null) {
        next.release();
      }
    }
  }

  @Test
  void flush_waitsForTheEndOfTheTurn() {
    send(channel, "a");
    assertThat(sent(channel)).isNull();
    channel.runPendingTasks();
    assertThat(sent(channel)).isEqualTo("a");
    send(channel, "b");
    channel.runPendingTasks();
    assertThat(sent(channel)).isEqualTo("b");
  }

  @Test
  void channelThatCloses_isFlushedFirst() {
    send(channel, "a");
    channel.pipeline().close();
    assertThat(sent(channel)).isEqualTo("a");
  }

  @Test
  void fullChannel_isFlushedAtOnce() {
    channel.config().setWriteBufferWaterMark(new WriteBufferWaterMark(1, 2));
    send(channel, "abc");
    assertThat(sent(channel)).isEqualTo("abc");
  }

  @Test
  void manyChannels_doNotWaitForTheEndOfTheTurn() {
    List<EmbeddedChannel> channels =
        Stream.generate(() -> new EmbeddedChannel(new TurnEndFlush()))
            .limit(TurnEndFlush.MAX_CHANNELS)
            .toList();
    channels.forEach(each -> send(each, "a"));
    assertThat(channels).extracting(TurnEndFlushTest::sent).containsOnly("a");
    channels.forEach(EmbeddedChannel::runPendingTasks);
  }

  @Test
  void reply_isFlushedWhenItsReadIsComplete() {
    send(channel, "a");
    channel.pipeline().fireChannelReadComplete();
    assertThat(sent(channel)).isEqualTo("a");
  }

  @Test
  void closedChannel_doesNotDelayOthers() {
    EmbeddedChannel closed = new EmbeddedChannel(new TurnEndFlush());
    send(closed, "a");
    send(channel, "b");
    closed.unsafe().close(closed.unsafe().voidPromise());
    closed.runPendingTasks();
    assertThat(sent(closed)).isNull();
    assertThat(sent(channel)).isEqualTo("b");
  }

  @Test
  void writeDuringTheFlush_isFlushed() {
    channel.config().setWriteBufferWaterMark(new WriteBufferWaterMark(1000, 2000));
    channel
        .pipeline()
        .addLast(
            new ChannelInboundHandlerAdapter() {
              @Override
              public void channelWritabilityChanged(ChannelHandlerContext context) {
                if (context.channel().isWritable()) {
                  send(channel, "c");
                }
              }
            });
    send(channel, "a");
    channel.pipeline().write(Unpooled.copiedBuffer("b".repeat(3000), US_ASCII));
    channel.runPendingTasks();
    assertThat(sent(channel)).isEqualTo("a");
    assertThat(sent(channel)).hasSize(3000);
    assertThat(sent(channel)).isEqualTo("c");
  }

  @Test
  void loopThatRefusedTheTask_getsItWithTheNextFlush() {
    AtomicBoolean refusing = new AtomicBoolean();
    EmbeddedChannel refused =
        new EmbeddedChannel(new TurnEndFlush()) {
          @Override
          public EventLoop eventLoop() {
            if (refusing.get()) {
              throw new RejectedExecutionException("refused");
            }
            return super.eventLoop();
          }
        };
    refused.pipeline().flush();
    refused.runPendingTasks();
    refusing.set(true);
    send(refused, "a");
    refusing.set(false);
    send(channel, "b");
    channel.runPendingTasks();
    assertThat(sent(refused)).isEqualTo("a");
    assertThat(sent(channel)).isEqualTo("b");
  }

  @Test
  void failedFlush_delaysTheOthersByOneTask() {
    TurnEndFlush handler = new TurnEndFlush();
    EmbeddedChannel failing = new EmbeddedChannel();
    handler.flush(contextThatFails(failing, handler));
    send(channel, "a");
    failing.runPendingTasks();
    assertThatIllegalStateException().isThrownBy(failing::checkException);
    channel.runPendingTasks();
    assertThat(sent(channel)).isEqualTo("a");
  }

  private static ChannelHandlerContext contextThatFails(
      EmbeddedChannel channel, TurnEndFlush handler) {
    return (ChannelHandlerContext)
        Proxy.newProxyInstance(
            TurnEndFlushTest.class.getClassLoader(),
            new Class<?>[] {ChannelHandlerContext.class},
            (_, method, _) ->
                switch (method.getName()) {
                  case "channel" -> channel;
                  case "handler" -> handler;
                  default -> throw new IllegalStateException(method.getName());
                });
  }
}
