package io.inferspan.pd.upstream;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.pd.net.Loops;
import io.inferspan.pd.rig.Awaited;
import io.inferspan.pd.rig.Cleanliness;
import io.inferspan.pd.rig.RawServer;
import io.inferspan.pd.telemetry.ConnectionMeters;
import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpVersion;
import io.vertx.core.internal.VertxInternal;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Idle connections are given up before the engine gives them up. */
@ExtendWith(Cleanliness.class)
final class IdleConnectionsTest {
  private static final Duration KEEP_ALIVE_OF_UVICORN = Duration.ofSeconds(5);

  private final Loops loops = Loops.start("nio", 1);
  private final RawServer engine =
      RawServer.answering("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");

  @AfterEach
  void stop() throws Exception {
    engine.close();
    loops.close();
  }

  @Test
  void limit_isShorterThanTheEngines() {
    assertThat(Upstreams.IDLE_LIMIT).isLessThan(KEEP_ALIVE_OF_UVICORN);
  }

  @Test
  void connectionWithinTheLimit_isUsedAgain() throws Exception {
    try (Upstreams engines = keeping(Duration.ofMinutes(5))) {
      call(engines);
      call(engines);
    }
    assertThat(engine.connections()).isEqualTo(1);
  }

  @Test
  void connectionBeyondTheLimit_isNotUsedAgain_andCloses() throws Exception {
    try (Upstreams engines = keeping(Duration.ofNanos(1))) {
      call(engines);
      call(engines);
      assertThat(engine.connections()).isEqualTo(2);
      Awaited.within(Duration.ofSeconds(10), "both are closed", () -> engine.ended() == 2);
    }
  }

  private Upstreams keeping(Duration idleLimit) {
    return new Upstreams(
        loops, new Upstreams.Settings(null, 8, idleLimit, 8192, new ConnectionMeters()));
  }

  private void call(Upstreams engines) throws Exception {
    EventLoop loop = ((VertxInternal) loops.vertx()).nettyEventLoopGroup().next();
    Target target = new Target("127.0.0.1", engine.port());
    CompletableFuture<Boolean> ended = new CompletableFuture<>();
    loop.execute(() -> engines.start(loop, target, new Get(ended)));
    assertThat(ended.get(10, TimeUnit.SECONDS)).isTrue();
  }

  /** A call without a body whose answer has none either. */
  private static final class Get extends EngineCall {
    private final CompletableFuture<Boolean> ended;

    Get(CompletableFuture<Boolean> ended) {
      super(new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/"));
      this.ended = ended;
    }

    @Override
    protected void connected() {
      send();
      finish(EmptyHttpHeaders.INSTANCE);
      flush();
    }

    @Override
    protected void head(HttpResponse head) {}

    @Override
    protected void content(ByteBuf content) {
      content.release();
    }

    @Override
    protected void ended(HttpHeaders trailers) {
      ended.complete(true);
    }

    @Override
    protected void failed(UpstreamFailure failure) {
      ended.completeExceptionally(new AssertionError(failure.what()));
    }
  }
}
