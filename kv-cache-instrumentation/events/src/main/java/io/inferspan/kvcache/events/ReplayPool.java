package io.inferspan.kvcache.events;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.zeromq.ZMQ;

/** Runs a limited number of replays at once; the others wait. */
final class ReplayPool {

  private static final long KEEP_SECONDS = 5;

  final ZMQ.Context context;
  final KvEventOptions options;
  final KvEventCounts counts;
  private final ThreadPoolExecutor threads;
  volatile boolean closing;

  ReplayPool(ZMQ.Context context, KvEventOptions options, KvEventCounts counts) {
    this.context = context;
    this.options = options;
    this.counts = counts;
    int atOnce = options.replayLimits.atOnce();
    // A stream has at most one replay, so the queue is at most the number of publishers.
    this.threads =
        new ThreadPoolExecutor(
            atOnce,
            atOnce,
            KEEP_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            Threads.named("inferspan-kv-replay-"));
    threads.allowCoreThreadTimeOut(true);
  }

  void start(Replay replay, WorkQueue queue) {
    if (!closing) {
      threads.execute(new ReplayCall(replay, queue, this));
    }
  }

  /**
   * Stops all replays; returns whether they ended in time. Interrupting would close their sockets.
   */
  boolean close(long waitMillis) throws InterruptedException {
    closing = true;
    threads.shutdown();
    threads.getQueue().clear();
    return threads.awaitTermination(waitMillis, TimeUnit.MILLISECONDS);
  }
}
