package io.inferspan.kvcache.redis;

import io.inferspan.kvcache.index.KeyType;
import io.inferspan.kvcache.redis.layout.RedisCommands;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Removes a pod from a block, or from all blocks that an engine's hash maps to.
 *
 * <p>Redis deletes a hash with its last field, so only mappings need a second check.
 */
final class EvictWrite extends Write {

  private final long key;
  private final KeyType type;
  private final List<byte[]> fields;

  EvictWrite(Writes writes, String pod, List<byte[]> fields, long key, KeyType type) {
    super(writes, pod, 1);
    this.fields = fields;
    this.key = key;
    this.type = type;
  }

  @Override
  Kind kind() {
    return Kind.REMOVE;
  }

  @Override
  public void start() {
    if (type == KeyType.REQUEST) {
      byte[] block = RedisCommands.requestKey(key);
      send(List.of(RedisCommands.dropHolders(block, fields)), replies -> succeed());
    } else {
      send(List.of(RedisCommands.mapped(key)), replies -> mapped(replies.get(0)));
    }
  }

  private void mapped(@Nullable Response members) {
    List<byte[]> blocks = new ArrayList<>();
    for (int i = 0; members != null && i < members.size(); i++) {
      Response member = members.get(i);
      if (RedisCommands.isRequestKey(member)) {
        blocks.add(member.toBytes());
      } else {
        writes().counters().unreadable.increment();
      }
    }
    if (blocks.isEmpty()) {
      // No event mentioned that hash, or it has been dropped already.
      succeed();
    } else if (writes().link().clustered()) {
      dropThenCount(blocks);
    } else {
      dropAndPrune(blocks);
    }
  }

  private void dropAndPrune(List<byte[]> blocks) {
    List<Request> requests = new ArrayList<>(blocks.size() + 1);
    for (byte[] block : blocks) {
      requests.add(RedisCommands.dropHolders(block, fields));
    }
    requests.add(RedisCommands.prune(key, blocks));
    send(requests, replies -> succeed());
  }

  /** In a cluster no script can access the blocks and the mapping, which are on different nodes. */
  private void dropThenCount(List<byte[]> blocks) {
    List<Request> requests = new ArrayList<>(2 * blocks.size());
    for (byte[] block : blocks) {
      requests.add(RedisCommands.dropHolders(block, fields));
      requests.add(RedisCommands.holderCount(block));
    }
    send(requests, this::counted);
  }

  private void counted(List<Response> replies) {
    for (int i = 1; i < replies.size(); i += 2) {
      Response count = replies.get(i);
      if (count == null || !count.toString().equals("0")) {
        succeed();
        return;
      }
    }
    send(List.of(RedisCommands.forget(key)), done -> succeed());
  }
}
