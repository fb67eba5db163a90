package io.inferspan.kvcache.redis;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.inferspan.kvcache.redis.layout.RedisCommands;
import io.inferspan.kvcache.redis.link.Operation;
import io.inferspan.kvcache.redis.link.RedisLink;
import io.inferspan.kvcache.redis.link.Replies;
import io.vertx.redis.client.Response;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Reads the last block that an engine's hash maps to. */
final class KeyQuery extends Operation implements Replies {

  private final Writes writes;
  private final long engineKey;
  private final CompletableFuture<OptionalLong> answer = new CompletableFuture<>();

  KeyQuery(Writes writes, long engineKey) {
    super(writes.link().vertx());
    this.writes = writes;
    this.engineKey = engineKey;
  }

  CompletableFuture<OptionalLong> answer() {
    return answer;
  }

  @Override
  public void start() {
    RedisLink link = writes.link();
    RedisLink.Sent sent = link.send(List.of(RedisCommands.lastMapped(engineKey)), this);
    if (sent != null) {
      link.expect(sent, writes.timeoutMillis());
    }
  }

  @Override
  public void arrived(List<Response> replies) {
    if (!isOver()) {
      OptionalLong key = keyOf(replies.get(0));
      end();
      writes.answered();
      answer.complete(key);
    }
  }

  private OptionalLong keyOf(@Nullable Response members) {
    Response member = members == null || members.size() == 0 ? null : members.get(0);
    if (member == null) {
      return OptionalLong.empty();
    }
    if (!RedisCommands.isRequestKey(member)) {
      writes.counters().unreadable.increment();
      return OptionalLong.empty();
    }
    return OptionalLong.of(Long.parseUnsignedLong(member.toString(ISO_8859_1)));
  }

  @Override
  public void failed(String reason) {
    refused(reason);
  }

  @Override
  public void refused(String reason) {
    if (end()) {
      writes.answered();
      answer.completeExceptionally(new RedisFailure(reason));
    }
  }

  @Override
  public void expired() {
    refused("Redis did not answer in time");
  }
}
