package io.inferspan.pd.net;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.List;
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
    // Past the channel's own methods, which end the turn.
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
  void aFlushWaitsForTheEndOfTheTurn() {
    send(channel, "a");
    assertThat(sent(channel)).isNull();
    channel.runPendingTasks();
    assertThat(sent(channel)).isEqualTo("a");
    send(channel, "b");
    channel.runPendingTasks();
    assertThat(sent(channel)).isEqualTo("b");
  }

  @Test
  void aChannelThatClosesIsFlushedFirst() {
    send(channel, "a");
    channel.pipeline().close();
    assertThat(sent(channel)).isEqualTo("a");
  }

  @Test
  void aChannelThatIsFullIsFlushedAtOnce() {
    channel.config().setWriteBufferWaterMark(new WriteBufferWaterMark(1, 2));
    send(channel, "abc");
    assertThat(sent(channel)).isEqualTo("abc");
  }

  @Test
  void manyChannelsDoNotWaitForTheEndOfTheTurn() {
    List<EmbeddedChannel> channels =
        Stream.generate(() -> new EmbeddedChannel(new TurnEndFlush()))
            .limit(TurnEndFlush.MAX_CHANNELS)
            .toList();
    channels.forEach(each -> send(each, "a"));
    assertThat(channels).extracting(TurnEndFlushTest::sent).containsOnly("a");
  }
}
