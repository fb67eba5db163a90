package io.inferspan.kvcache.redis;

import io.inferspan.kvcache.index.BlockHits;
import io.inferspan.kvcache.index.PodEntry;
import io.inferspan.kvcache.redis.layout.PodFields;
import io.inferspan.kvcache.redis.layout.RedisCommands;
import io.inferspan.kvcache.redis.link.Operation;
import io.inferspan.kvcache.redis.link.RedisFailure;
import io.inferspan.kvcache.redis.link.RedisIndexCounters;
import io.inferspan.kvcache.redis.link.RedisLink;
import io.vertx.core.Future;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** The lookups on one connection. */
final class Lookups {

  private static final PodEntry[] NO_PODS = {};

  private final RedisLink link;
  private final RedisIndexOptions options;
  private final RedisIndexCounters counters;
  private final PodFields fields;
  private PodEntry[] scratch = new PodEntry[16];

  Lookups(RedisLink link, RedisIndexOptions options, RedisIndexCounters counters) {
    this.link = link;
    this.options = options;
    this.counters = counters;
    this.fields = new PodFields(counters.unreadable);
  }

  RedisLink link() {
    return link;
  }

  /** Starts a lookup on the link's event loop. Callable from any thread. */
  CompletionStage<BlockHits> begin(long[] keys, Set<String> pods, BlockHits into) {
    long begun = System.nanoTime();
    Lookup lookup = new Lookup(RedisCommands.holders(keys), Set.copyOf(pods), into);
    RedisFailure refusal =
        link.post(
            keys.length,
            () -> {
              long passed = (System.nanoTime() - begun) / 1_000_000;
              lookup.expireAfter(link.vertx(), options.lookupTimeout.toMillis() - passed);
              link.startOrPark(lookup);
            });
    if (refusal != null) {
      counters.lookupFailures.increment();
      into.fail(String.valueOf(refusal.getMessage()));
      return CompletableFuture.completedStage(into);
    }
    return lookup.result().exceptionally(failure -> into);
  }

  /**
   * One lookup. It fills the caller's buffer once and never touches it again, whatever Redis sends
   * afterwards.
   */
  private final class Lookup extends Operation<BlockHits> {

    private final List<Request> requests;
    private final Set<String> pods;
    private final BlockHits into;

    Lookup(List<Request> requests, Set<String> pods, BlockHits into) {
      this.requests = requests;
      this.pods = pods;
      this.into = into;
    }

    @Override
    protected Future<BlockHits> work() {
      return send(link, requests).map(this::filled);
    }

    /**
     * Stops at the first block that none of the requested pods holds, as llm-d's Redis index does.
     */
    private BlockHits filled(List<Response> replies) {
      for (int i = 0; i < replies.size(); i++) {
        PodEntry[] holders = holders(replies.get(i), pods);
        if (holders.length == 0) {
          break;
        }
        into.set(i, holders);
      }
      return into;
    }

    @Override
    protected void ended(@Nullable RedisFailure failure) {
      if (failure != null) {
        (failure.isLate() ? counters.lookupTimeouts : counters.lookupFailures).increment();
        into.fail(String.valueOf(failure.getMessage()));
      }
      link.done(requests.size());
    }
  }

  /** Returns the holders among these fields that belong to the requested pods. */
  private PodEntry[] holders(Response of, Set<String> pods) {
    int size = of.size();
    if (scratch.length < size) {
      scratch = new PodEntry[size * 2];
    }
    int found = 0;
    for (int i = 0; i < size; i++) {
      @Nullable PodEntry holder = fields.read(of.get(i));
      if (holder != null && (pods.isEmpty() || pods.contains(holder.pod()))) {
        scratch[found++] = holder;
      }
    }
    return found == 0 ? NO_PODS : Arrays.copyOf(scratch, found);
  }
}
