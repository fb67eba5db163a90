package io.inferspan.kvcache.redis;

import io.inferspan.kvcache.Awaited;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RedisLinkTest {

  private final Vertx vertx = Vertx.vertx();

  @AfterEach
  void stop() {
    vertx.close().toCompletionStage().toCompletableFuture().join();
  }

  private static final class Waiter extends Operation<Void> {
    private Waiter(RedisLink link) {
      super(link, 1);
    }

    @Override
    Future<Void> work() {
      return Future.succeededFuture();
    }
  }

  private RedisLink down() {
    RedisIndexOptions options = RedisIndexOptions.single("redis://127.0.0.1:1").build();
    return new RedisLink(
        vertx.getOrCreateContext(),
        options,
        new RedisIndexCounts(),
        new RedisLink.Outage(options.address, new AtomicBoolean()),
        true);
  }

  @Test
  void endedOperations_areReleased_thoughAnEarlierOneStillWaits() {
    RedisLink link = down();
    link.startOrPark(new Waiter(link));
    List<WeakReference<Operation<?>>> gaveUp = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) {
      Operation<?> next = new Waiter(link);
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
