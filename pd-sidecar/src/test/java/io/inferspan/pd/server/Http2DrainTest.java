package io.inferspan.pd.server;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import io.netty.channel.DefaultChannelId;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.local.LocalServerChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Tests draining an HTTP/2 connection, with a test clock. */
final class Http2DrainTest {
  private static final int HEADER_BYTES = 8192;
  private static final String BEGIN = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0";
  private static final String GET_ON_STREAM_1 = "\0\0\6\1\5\0\0\0\1\u0082\u0086\u0084\1\1a";

  private final List<ClientExchange> served = new ArrayList<>();

  // Netty recognises the server side by the parent.
  private final EmbeddedChannel channel =
      new EmbeddedChannel(new LocalServerChannel(), DefaultChannelId.newInstance(), true, false);

  private final Http2Connection connection =
      Http2Connection.install(
          channel, new HttpListener.Settings(served::add, null, HEADER_BYTES, 0));

  private void receive(String bytes) {
    channel.writeInbound(Unpooled.copiedBuffer(bytes, ISO_8859_1));
    channel.runPendingTasks();
  }

  @Test
  void activeStream_isNotAbortedByTheConnection_howeverLongItTakes() {
    channel.freezeTime();
    receive(BEGIN + GET_ON_STREAM_1);
    assertThat(served).hasSize(1);

    connection.drain();
    channel.advanceTimeBy(1, TimeUnit.HOURS);
    channel.runScheduledPendingTasks();

    assertThat(channel.isOpen()).isTrue();
    connection.cut();
    channel.advanceTimeBy(1, TimeUnit.SECONDS);
    channel.runScheduledPendingTasks();
    assertThat(channel.isOpen()).isFalse();
    channel.releaseOutbound();
  }

  @Test
  void connectionWithoutStreams_closesAtOnce() {
    receive(BEGIN);

    connection.drain();
    channel.runPendingTasks();

    assertThat(channel.isOpen()).isFalse();
    channel.releaseOutbound();
  }
}
