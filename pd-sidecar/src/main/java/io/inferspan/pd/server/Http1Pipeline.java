package io.inferspan.pd.server;

import io.netty.channel.Channel;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpResponseEncoder;

/** Makes a channel speak HTTP/1.1. */
final class Http1Pipeline {
  private static final int MAX_LINE_BYTES = 64 * 1024;
  private static final int MAX_CONTENT_BYTES = 64 * 1024;

  private Http1Pipeline() {}

  static ClientConnection install(Channel channel, ListenerSettings settings) {
    ClientConnection connection = new ClientConnection(settings.handler(), settings.rank());
    HttpDecoderConfig decoding =
        new HttpDecoderConfig()
            .setMaxInitialLineLength(MAX_LINE_BYTES)
            .setMaxHeaderSize(settings.headerBytes())
            .setMaxChunkSize(MAX_CONTENT_BYTES);
    channel
        .pipeline()
        .addLast(new RequestDecoder(decoding, connection), new HttpResponseEncoder(), connection);
    return connection;
  }
}
