package io.inferspan.samples.embeddings;

import static io.netty.handler.codec.http.HttpHeaderNames.CONNECTION;
import static io.netty.handler.codec.http.HttpHeaderNames.CONTENT_LENGTH;
import static io.netty.handler.codec.http.HttpHeaderNames.HOST;
import static io.netty.handler.codec.http.HttpHeaderNames.TRANSFER_ENCODING;

import io.inferspan.Telemetry;
import io.inferspan.TelemetryOptions;
import io.inferspan.gateway.GatewayTracing;
import io.inferspan.gateway.UpstreamAttempt;
import io.inferspan.gateway.netty.GatewayHandler;
import io.inferspan.gateway.netty.UpstreamHandler;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A gateway on Netty, with one request per connection: {@code NettyGateway engine:8000 8080}. */
public final class NettyGateway {

  private static final int MAX_BODY_BYTES = 16 << 20;

  private NettyGateway() {}

  /** Serves until it is stopped. */
  public static void main(String[] arguments) throws InterruptedException {
    URI engine = URI.create("http://" + arguments[0]);
    int port = Integer.parseInt(arguments[1]);
    Telemetry telemetry =
        Telemetry.initTracing(
            TelemetryOptions.builder().serviceName("netty-gateway").closeOnShutdown().build());
    GatewayTracing tracing = GatewayTracing.create(telemetry);

    Channel server =
        new ServerBootstrap()
            .group(new MultiThreadIoEventLoopGroup(NioIoHandler.newFactory()))
            .channel(NioServerSocketChannel.class)
            .childHandler(
                new ChannelInitializer<>() {
                  @Override
                  protected void initChannel(Channel channel) {
                    channel
                        .pipeline()
                        .addLast(new HttpServerCodec())
                        .addLast(new GatewayHandler(tracing))
                        .addLast(new HttpObjectAggregator(MAX_BODY_BYTES))
                        .addLast(new RequestForwarder(engine));
                  }
                })
            .bind(port)
            .sync()
            .channel();
    System.out.println("listening on " + ((InetSocketAddress) server.localAddress()).getPort());
  }

  private static void refuse(Channel client, HttpResponseStatus status) {
    client
        .writeAndFlush(new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status))
        .addListener(ChannelFutureListener.CLOSE);
  }

  /** Forwards requests from the client to the engine. */
  private static final class RequestForwarder extends SimpleChannelInboundHandler<FullHttpRequest> {
    private final URI target;
    private @Nullable Channel engine;

    RequestForwarder(URI target) {
      this.target = target;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext client, FullHttpRequest request) {
      if (engine != null) {
        client.close();
        return;
      }
      if (request.decoderResult().isFailure()) {
        refuse(client.channel(), HttpResponseStatus.BAD_REQUEST);
        return;
      }
      UpstreamAttempt attempt =
          Objects.requireNonNull(GatewayHandler.current(client.channel()))
              .attempt(target.getHost(), target.getPort());
      UpstreamHandler tracing = new UpstreamHandler();
      tracing.call(attempt);
      request.headers().set(HOST, target.getAuthority()).remove(CONNECTION);
      request.headers().remove(TRANSFER_ENCODING);
      request.headers().set(CONTENT_LENGTH, request.content().readableBytes());
      request.retain();

      ChannelFuture connecting = connect(client.channel(), tracing);
      engine = connecting.channel();
      connecting.addListener(
          connected -> {
            if (connected.isSuccess()) {
              connecting.channel().writeAndFlush(request);
            } else {
              request.release();
              attempt.fail(connected.cause());
              refuse(client.channel(), HttpResponseStatus.BAD_GATEWAY);
            }
          });
    }

    private ChannelFuture connect(Channel client, UpstreamHandler tracing) {
      return new Bootstrap()
          .group(client.eventLoop())
          .channel(NioSocketChannel.class)
          .handler(
              new ChannelInitializer<>() {
                @Override
                protected void initChannel(Channel channel) {
                  channel
                      .pipeline()
                      .addLast(new HttpClientCodec(), tracing, new ResponseForwarder(client));
                }
              })
          .connect(target.getHost(), target.getPort());
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext client) {
      if (engine != null) {
        engine.config().setAutoRead(client.channel().isWritable());
      }
    }

    @Override
    public void channelInactive(ChannelHandlerContext client) {
      if (engine != null) {
        engine.close();
      }
    }
  }

  /** Forwards responses from the engine to the client, chunk by chunk. */
  private static final class ResponseForwarder extends ChannelInboundHandlerAdapter {
    private final Channel client;
    private boolean answered;

    ResponseForwarder(Channel client) {
      this.client = client;
    }

    @Override
    public void channelRead(ChannelHandlerContext engine, Object message) {
      if (message instanceof HttpResponse response) {
        response.headers().set(CONNECTION, "close");
        answered |= response.status().codeClass() != HttpStatusClass.INFORMATIONAL;
      }
      ChannelFuture written = client.writeAndFlush(message);
      // The end of an interim response, such as 103, is not the end.
      if (answered && message instanceof LastHttpContent) {
        written.addListener(ChannelFutureListener.CLOSE);
      }
    }

    @Override
    public void channelInactive(ChannelHandlerContext engine) {
      if (answered) {
        client.close();
      } else {
        refuse(client, HttpResponseStatus.BAD_GATEWAY);
      }
    }
  }
}
