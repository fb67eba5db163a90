package io.inferspan.kvcache.index.redis;

import io.inferspan.kvcache.index.redis.layout.RedisCommands;
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
    // After the holders, so that nobody finds a mapping to blocks that look empty and drops it.
    RedisCommands.map(engineKeys, requestKeys, requests);
    send(requests, replies -> succeed());
  }
}
