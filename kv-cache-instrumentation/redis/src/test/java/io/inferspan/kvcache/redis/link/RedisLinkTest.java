package io.inferspan.kvcache.redis.link;

import io.inferspan.kvcache.Awaited;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RedisLinkTest {

  private final Vertx vertx = Vertx.vertx();

  @AfterEach
  void stop() {
    vertx.close().toCompletionStage().toCompletableFuture().join();
  }

  private static final class Waiter extends Operation<Void> {
    @Override
    protected Future<Void> work() {
      return Future.succeededFuture();
    }
  }

  private RedisLink down() {
    LinkSettings settings =
        new LinkSettings(
            LinkSettings.Topology.SINGLE,
            List.of(RedisAddress.parse("redis://127.0.0.1:1")),
            null,
            new LinkSettings.Login(null, null),
            null,
            null,
            Duration.ofSeconds(1),
            1_024);
    return new RedisLink(
        vertx.getOrCreateContext(),
        new RedisClients(vertx, settings),
        new RedisLink.Watchers(new RedisIndexCounters(), new Outage("nowhere")),
        new RedisLink.Patience(true, 1_000));
  }

  @Test
  void whatGaveUpBehindOneThatNeverDoes_isLetGo() {
    RedisLink link = down();
    link.startOrPark(new Waiter());
    List<WeakReference<Operation<?>>> gaveUp = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) {
      Operation<?> next = new Waiter();
      gaveUp.add(new WeakReference<>(next));
      link.startOrPark(next);
      next.fail("it gave up");
    }

    Awaited.until(
        "few are kept",
        () -> {
          System.gc();
          return gaveUp.stream().filter(each -> each.get() != null).count() <= 100;
        });
    Future<?> unused = link.close();
  }
}
