package io.inferspan.pd.upstream;

import io.inferspan.pd.net.Loops;
import io.inferspan.pd.tls.UpstreamTls;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.FastThreadLocal;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/** The engines of one stage: prefillers, decoders or encoders. */
public final class Upstreams implements AutoCloseable {
  private final Loops loops;
  private final Settings settings;
  private final Queue<UpstreamPool> pools = new ConcurrentLinkedQueue<>();
  private final FastThreadLocal<UpstreamPool> pool = new FastThreadLocal<>();

  /**
   * How to reach the engines of a stage.
   *
   * @param tls null for plain HTTP
   * @param maxIdlePerHost how many unused connections are kept to one address
   * @param headerBytes the most bytes of an answer's headers
   * @param events hears of connections
   */
  public record Settings(
      @Nullable UpstreamTls tls, int maxIdlePerHost, int headerBytes, PoolEvents events) {}

  public Upstreams(Loops loops, Settings settings) {
    this.loops = loops;
    this.settings = settings;
  }

  /**
   * Begins a call; the listener is told when the request may be written, which may be before this
   * returns.
   *
   * @param loop the loop that calls this, and that the call stays on
   * @param replayable whether the request may be sent again where an idle connection was dead
   */
  public UpstreamCall call(
      EventLoop loop, Target target, boolean replayable, ResponseListener listener) {
    UpstreamCall call = new UpstreamCall(listener, replayable);
    poolOf(loop).start(target, call);
    return call;
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

  /** Closes unused connections; calls under way go on. */
  @Override
  public void close() {
    pools.forEach(UpstreamPool::close);
  }
}
