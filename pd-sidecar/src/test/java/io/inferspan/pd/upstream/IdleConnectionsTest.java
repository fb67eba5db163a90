package io.inferspan.pd.upstream;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.pd.net.Loops;
import io.inferspan.pd.rig.Awaited;
import io.inferspan.pd.rig.Cleanliness;
import io.inferspan.pd.rig.RawServer;
import io.inferspan.pd.telemetry.ConnectionMeters;
import io.netty.channel.EventLoop;
import io.vertx.core.internal.VertxInternal;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Tests that idle connections are closed before the engine closes them. */
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
  void limit_isShorterThanTheKeepAliveOfEngines() {
    assertThat(Upstreams.IDLE_LIMIT).isLessThan(KEEP_ALIVE_OF_UVICORN);
  }

  @Test
  void connectionWithinTheLimit_isReused() throws Exception {
    try (Upstreams engines = keeping(Duration.ofMinutes(5))) {
      call(engines);
      call(engines);
    }
    assertThat(engine.connections()).isEqualTo(1);
  }

  @Test
  void connectionBeyondTheLimit_isNotReused_andCloses() throws Exception {
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
    loop.execute(
        () ->
            engines.start(
                loop, target, Get.of(target, answer -> ended.complete(answer.heldBy(null).ok()))));
    assertThat(ended.get(10, TimeUnit.SECONDS)).isTrue();
  }
}
