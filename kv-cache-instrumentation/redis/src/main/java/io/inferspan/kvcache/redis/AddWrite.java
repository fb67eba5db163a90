package io.inferspan.kvcache.redis;

import io.inferspan.kvcache.redis.layout.RedisCommands;
import io.vertx.redis.client.Request;
import java.util.ArrayList;
import java.util.List;

/** Adds a pod to blocks. */
final class AddWrite extends Write {

  private final long[] engineKeys;
  private final long[] requestKeys;
  private final List<byte[]> fields;

  AddWrite(Writes writes, String pod, List<byte[]> fields, long[] engineKeys, long[] requestKeys) {
    super(writes, pod, engineKeys.length + requestKeys.length);
    this.fields = fields;
    this.engineKeys = engineKeys;
    this.requestKeys = requestKeys;
  }

  @Override
  Kind kind() {
    return Kind.ADD;
  }

  @Override
  public void start() {
    List<Request> requests = new ArrayList<>(commands());
    for (long key : requestKeys) {
      requests.add(RedisCommands.addHolders(key, fields));
    }
    // Holders first: a reader that found the mapping before its blocks would drop it as stale.
    RedisCommands.map(engineKeys, requestKeys, requests);
    send(requests, replies -> succeed());
  }
}
