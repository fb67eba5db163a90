package io.inferspan.pd.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.concurrent.Future;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class UpstreamTlsTest {
  private static final MultiThreadIoEventLoopGroup GROUP =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  @TempDir private Path folder;
  private final Identity identity = SelfSigned.create(Instant.now());

  @AfterAll
  static void stop() {
    GROUP.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
  }

  @Test
  void unknownCa_isRefused() throws Exception {
    try (TlsServer server = serve(identity)) {
      assertThat(failure(UpstreamTls.verifying(null), "localhost", server))
          .isInstanceOf(SSLHandshakeException.class);
    }
  }

  @Test
  void knownCaWithTheRightName_isAccepted() throws Exception {
    UpstreamTls tls = UpstreamTls.verifying(authorities(identity));
    try (TlsServer server = serve(identity)) {
      assertThat(failure(tls, "localhost", server)).isNull();
      assertThat(failure(tls, "127.0.0.1", server)).isNull();
      assertThat(failure(tls, "::1", server)).isNull();
    }
  }

  @Test
  void knownCaWithAnotherName_isRefused() throws Exception {
    UpstreamTls tls = UpstreamTls.verifying(authorities(identity));
    try (TlsServer server = serve(identity)) {
      assertThat(failure(tls, "decode-0", server)).isInstanceOf(SSLHandshakeException.class);
      assertThat(failure(tls, "10.0.0.1", server)).isInstanceOf(SSLHandshakeException.class);
    }
  }

  @Test
  void skippedVerification_acceptsAnyServer() throws Exception {
    Instant past = Instant.now().minus(Duration.ofDays(9));
    Identity expired = SelfSigned.create("old", past, past.plus(Duration.ofDays(1)));
    UpstreamTls tls = UpstreamTls.skippingVerification();
    try (TlsServer server = serve(identity);
        TlsServer old = serve(expired)) {
      assertThat(failure(tls, "localhost", server)).isNull();
      assertThat(failure(tls, "decode-0", server)).isNull();
      assertThat(failure(tls, "decode-0", old)).isNull();
    }
  }

  @Test
  void hostName_isSentAsServerName() throws Exception {
    UpstreamTls tls = UpstreamTls.skippingVerification();
    try (TlsServer server = serve(identity)) {
      for (String host : new String[] {"decode-0", "decode-0.pool.svc"}) {
        assertThat(failure(tls, host, server)).isNull();
        assertThat(server.requestedNames.poll(5, TimeUnit.SECONDS)).contains("value=" + host);
      }
      for (String host : new String[] {"127.0.0.1", "::1", "not_a-dns-name."}) {
        assertThat(failure(tls, host, server)).isNull();
        assertThat(server.requestedNames.poll(5, TimeUnit.SECONDS)).isEqualTo("[]");
      }
    }
  }

  @Test
  void fileWithoutCertificates_isRefusedWithOneSentence() throws Exception {
    Path empty = Files.writeString(folder.resolve("empty.pem"), "nothing");
    Path garbled =
        Files.writeString(
            folder.resolve("garbled.pem"),
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    for (Path file : List.of(empty, garbled, folder.resolve("absent.pem"))) {
      assertThatThrownBy(() -> UpstreamTls.verifying(file))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageStartingWith(file.toString())
          .hasMessageContaining("tls-ca-file");
    }
  }

  private Path authorities(Identity trusted) throws Exception {
    String base64 = Base64.getMimeEncoder().encodeToString(trusted.certificate().getEncoded());
    return Files.writeString(
        folder.resolve("ca.pem"),
        "-----BEGIN CERTIFICATE-----\n" + base64 + "\n-----END CERTIFICATE-----\n");
  }

  private static TlsServer serve(Identity identity) throws Exception {
    SslContext context =
        SslContextBuilder.forServer(identity.key(), identity.certificate()).build();
    return new TlsServer(() -> context);
  }

  /** Connects to {@code server}, regardless of what {@code host} resolves to. */
  private static @Nullable Throwable failure(UpstreamTls tls, String host, TlsServer server) {
    Bootstrap bootstrap =
        new Bootstrap()
            .group(GROUP)
            .channel(NioSocketChannel.class)
            .handler(
                new ChannelInitializer<SocketChannel>() {
                  @Override
                  protected void initChannel(SocketChannel channel) {
                    channel
                        .pipeline()
                        .addLast(
                            tls.newHandler(channel.alloc(), host, server.port()),
                            new TlsServer.Silence());
                  }
                });
    Channel channel = bootstrap.connect("127.0.0.1", server.port()).syncUninterruptibly().channel();
    Future<Channel> handshake = channel.pipeline().get(SslHandler.class).handshakeFuture();
    assertThat(handshake.awaitUninterruptibly(5, TimeUnit.SECONDS)).isTrue();
    channel.close().syncUninterruptibly();
    return handshake.cause();
  }
}
