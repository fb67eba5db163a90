package io.inferspan.pd.connector.bootstrap;

import io.inferspan.pd.upstream.Target;
import io.inferspan.pd.upstream.Upstreams;
import io.netty.channel.EventLoop;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Caches the responses of bootstrap servers. Concurrent requests share one query; a server is
 * queried again only after a failure or {@code forget}.
 */
public final class Bootstraps {
  private static final int MOST_SERVERS = 1024;

  private final Duration patience;

  private final Map<Target, Future<List<BootstrapEngine>>> known =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(
            Map.Entry<Target, Future<List<BootstrapEngine>>> eldest) {
          return size() > MOST_SERVERS;
        }
      };

  /**
   * Nothing is known yet.
   *
   * @param patience how long an answer may take
   */
  public Bootstraps(Duration patience) {
    this.patience = patience;
  }

  /**
   * Returns the engines of a server, one or more; a failure describes the problem in one sentence.
   *
   * @param loop the caller's event loop, on which the future completes
   */
  public Future<List<BootstrapEngine>> engines(Target server, Upstreams upstreams, EventLoop loop) {
    Promise<List<BootstrapEngine>> asking = Promise.promise();
    Future<List<BootstrapEngine>> before;
    synchronized (known) {
      before = known.putIfAbsent(server, asking.future());
    }
    if (before == null) {
      asking.future().onFailure(_ -> forget(server, asking.future()));
      new BootstrapQuery(server).ask(upstreams, loop, patience).onComplete(asking);
      return asking.future();
    }
    return onLoop(before, loop);
  }

  /** The answer may come on the loop of another request. */
  private static Future<List<BootstrapEngine>> onLoop(
      Future<List<BootstrapEngine>> answer, EventLoop loop) {
    Promise<List<BootstrapEngine>> here = Promise.promise();
    answer.onComplete(
        result -> {
          if (loop.inEventLoop()) {
            here.handle(result);
          } else {
            loop.execute(() -> here.handle(result));
          }
        });
    return here.future();
  }

  private void forget(Target server, Future<List<BootstrapEngine>> answer) {
    synchronized (known) {
      known.remove(server, answer);
    }
  }

  /** Asks again next time: the engines may be others now. */
  public void forget(Target server) {
    synchronized (known) {
      known.remove(server);
    }
  }
}
