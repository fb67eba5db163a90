package io.inferspan.kvcache.redis;

import io.inferspan.kvcache.index.BlockHits;
import io.inferspan.kvcache.index.PodEntry;
import io.vertx.core.Future;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One lookup. It fills the caller's buffer once and never touches it again, whatever Redis sends
 * afterwards.
 */
final class Lookup extends Operation<BlockHits> {

  private final List<Request> requests;
  private final Set<String> pods;
  private final BlockHits into;

  Lookup(RedisLink link, long[] keys, Set<String> pods, BlockHits into) {
    super(link, keys.length);
    this.requests = RedisCommands.holders(keys);
    this.pods = Set.copyOf(pods);
    this.into = into;
  }

  /** Starts the lookup. Callable from any thread. */
  CompletionStage<BlockHits> begin(long timeoutMillis) {
    long begun = System.nanoTime();
    return submit(
            () -> {
              long passed = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun);
              expireAfter(timeoutMillis - passed);
              link.startOrPark(this);
            })
        .exceptionally(failure -> into);
  }

  @Override
  Future<BlockHits> work() {
    return send(requests).map(this::filled);
  }

  /**
   * Stops at the first block that none of the requested pods holds, as llm-d's Redis index does.
   */
  private BlockHits filled(List<Response> replies) {
    for (int i = 0; i < replies.size(); i++) {
      PodEntry[] holders = holders(replies.get(i));
      if (holders.length == 0) {
        break;
      }
      into.set(i, holders);
    }
    return into;
  }

  /** Returns the holders among these fields that belong to the requested pods. */
  private PodEntry[] holders(Response of) {
    PodEntry[] holders = new PodEntry[of.size()];
    int found = 0;
    for (int i = 0; i < holders.length; i++) {
      @Nullable PodEntry holder = link.fields.read(of.get(i));
      if (holder != null && (pods.isEmpty() || pods.contains(holder.pod()))) {
        holders[found++] = holder;
      }
    }
    return found == holders.length ? holders : Arrays.copyOf(holders, found);
  }

  @Override
  void ended(@Nullable RedisFailure failure) {
    if (failure != null) {
      link.counts.increment(
          failure.isLate() ? RedisIndexCount.LOOKUP_TIMEOUTS : RedisIndexCount.LOOKUP_FAILURES);
      into.fail(failure.reason());
    }
  }
}
