package io.inferspan.kvcache.redis;

import io.inferspan.kvcache.index.BlockHits;
import io.inferspan.kvcache.index.PodEntry;
import io.inferspan.kvcache.redis.link.Operation;
import io.inferspan.kvcache.redis.link.RedisLink;
import io.inferspan.kvcache.redis.link.Replies;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One lookup. It fills the caller's buffer once and never touches it again, whatever Redis sends
 * afterwards.
 */
final class Lookup extends Operation implements Replies {

  private final Lookups lookups;
  private final List<Request> requests;
  private final Set<String> pods;
  private final BlockHits into;
  private final CompletableFuture<BlockHits> answer = new CompletableFuture<>();
  private RedisLink.@Nullable Sent sent;

  Lookup(Lookups lookups, List<Request> requests, Set<String> pods, BlockHits into) {
    super(lookups.link().vertx());
    this.lookups = lookups;
    this.requests = requests;
    this.pods = pods;
    this.into = into;
  }

  CompletableFuture<BlockHits> answer() {
    return answer;
  }

  int commands() {
    return requests.size();
  }

  @Override
  public void start() {
    sent = lookups.link().send(requests, this);
  }

  @Override
  public void arrived(List<Response> replies) {
    if (!isOver()) {
      fill(replies);
      end();
      settle(null);
    }
  }

  /**
   * Stops at the first block that none of the requested pods holds, as llm-d's Redis index does.
   */
  private void fill(List<Response> replies) {
    for (int i = 0; i < replies.size(); i++) {
      PodEntry[] holders = lookups.holders(replies.get(i), pods);
      if (holders.length == 0) {
        return;
      }
      into.set(i, holders);
    }
  }

  @Override
  public void failed(String reason) {
    refused(reason);
  }

  @Override
  public void refused(String reason) {
    if (end()) {
      lookups.counters().lookupFailures.increment();
      settle(reason);
    }
  }

  @Override
  public void expired() {
    if (end()) {
      RedisLink.Sent late = sent;
      if (late != null) {
        lookups.late(late);
      }
      lookups.counters().lookupTimeouts.increment();
      settle("Redis did not answer in time");
    }
  }

  private void settle(@Nullable String failure) {
    lookups.settled(this);
    if (failure != null) {
      into.fail(failure);
    }
    answer.complete(into);
  }
}
