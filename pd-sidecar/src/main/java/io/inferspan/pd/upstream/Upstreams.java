package io.inferspan.pd.upstream;

import io.inferspan.pd.metrics.ConnectionMeters;
import io.inferspan.pd.net.Loops;
import io.inferspan.pd.tls.UpstreamTls;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.FastThreadLocal;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/** The engines of one stage: prefillers, decoders or encoders. */
public final class Upstreams implements AutoCloseable {
  /** Engines that run on uvicorn (vLLM, SGLang) close an idle connection after 5 s. */
  public static final Duration IDLE_LIMIT = Duration.ofSeconds(4);

  private static final long CLOSE_MILLIS = 2_000;

  private final Loops loops;
  private final Settings settings;
  private final Queue<UpstreamPool> pools = new ConcurrentLinkedQueue<>();
  private final FastThreadLocal<UpstreamPool> pool = new FastThreadLocal<>();

  /**
   * Connection settings for the engines of a stage.
   *
   * @param tls null for plain HTTP
   * @param maxIdlePerHost the maximum number of idle connections per address
   * @param idleLimit how long an idle connection may be reused
   * @param headerBytes the maximum size of a response's headers
   * @param events counts connections
   */
  public record Settings(
      @Nullable UpstreamTls tls,
      int maxIdlePerHost,
      Duration idleLimit,
      int headerBytes,
      ConnectionMeters events) {}

  public Upstreams(Loops loops, Settings settings) {
    this.loops = loops;
    this.settings = settings;
  }

  /**
   * Starts a call, which may be connected before this returns.
   *
   * @param loop the calling event loop, on which the call stays
   */
  public void start(EventLoop loop, Target target, EngineCall call) {
    poolOf(loop).start(target, call);
  }

  private UpstreamPool poolOf(EventLoop loop) {
    UpstreamPool existing = pool.get();
    if (existing != null) {
      return existing;
    }
    UpstreamPool created = new UpstreamPool(loops, loop, settings);
    pool.set(created);
    pools.add(created);
    return created;
  }

  /** Closes all connections; active calls have failed when this returns. */
  @Override
  public void close() {
    pools.stream()
        .map(UpstreamPool::close)
        .toList()
        .forEach(closing -> closing.awaitUninterruptibly(CLOSE_MILLIS));
  }
}
