package io.inferspan.kvcache.redis;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.vertx.core.CompositeFuture;
import io.vertx.core.Future;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.RedisCluster;
import io.vertx.redis.client.RedisConnection;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The commands and key names of the layout that llm-d's Redis index uses. */
final class RedisCommands {

  static final int SCAN_BATCH = 1_024;

  private static final byte[] NOTHING = {};
  private static final String ENGINE = "engine:";

  /**
   * Deletes the mapping of an engine's hash atomically, but only if no pod holds any of its blocks.
   */
  private static final byte[] PRUNE =
      """
      for i = 2, #KEYS do
        if redis.call('HLEN', KEYS[i]) > 0 then
          return 0
        end
      end
      redis.call('DEL', KEYS[1])
      return 1
      """
          .getBytes(ISO_8859_1);

  private RedisCommands() {}

  /** Returns the key of a block. */
  static byte[] requestKey(long key) {
    return Long.toUnsignedString(key).getBytes(ISO_8859_1);
  }

  static byte[] engineKey(long key) {
    return (ENGINE + Long.toUnsignedString(key)).getBytes(ISO_8859_1);
  }

  /** Returns whether the key is a decimal number of 64 bits, as all block keys are. */
  static boolean isRequestKey(@Nullable Response key) {
    if (key == null) {
      return false;
    }
    try {
      Long.parseUnsignedLong(key.toString(ISO_8859_1));
      return true;
    } catch (NumberFormatException e) {
      return false;
    }
  }

  /** Reads the holders of a block. */
  static Request holders(byte[] key) {
    return Request.cmd(Command.HKEYS).arg(key);
  }

  /** Reads the holders of each of these blocks. */
  static List<Request> holders(long[] keys) {
    List<Request> requests = new ArrayList<>(keys.length);
    for (long key : keys) {
      requests.add(holders(requestKey(key)));
    }
    return requests;
  }

  /** Adds holders to a block. */
  static Request addHolders(long key, List<byte[]> fields) {
    Request request = Request.cmd(Command.HSET).arg(requestKey(key));
    fields.forEach(field -> request.arg(field).arg(NOTHING));
    return request;
  }

  /** Removes holders from a block. */
  static Request dropHolders(byte[] key, List<byte[]> fields) {
    Request request = Request.cmd(Command.HDEL).arg(key);
    fields.forEach(request::arg);
    return request;
  }

  /** Counts the holders of a block. */
  static Request holderCount(byte[] key) {
    return Request.cmd(Command.HLEN).arg(key);
  }

  /**
   * Maps engine keys to request keys by position. The entries of the shorter list are repeated
   * until both have the same length; the position is the score in the sorted set.
   */
  static void map(long[] engineKeys, long[] requestKeys, List<Request> into) {
    int places = engineKeys.length == 0 ? 0 : Math.max(engineKeys.length, requestKeys.length);
    int last = -1;
    Request request = null;
    for (int i = 0; i < places; i++) {
      int engine = (int) ((long) i * engineKeys.length / places);
      if (request == null || engine != last) {
        request = Request.cmd(Command.ZADD).arg(engineKey(engineKeys[engine]));
        into.add(request);
        last = engine;
      }
      int block = (int) ((long) i * requestKeys.length / places);
      request.arg(Integer.toString(i)).arg(requestKey(requestKeys[block]));
    }
  }

  /** Reads all blocks that an engine's hash maps to. */
  static Request mapped(long engineKey) {
    return Request.cmd(Command.ZRANGE).arg(engineKey(engineKey)).arg("0").arg("-1");
  }

  /** Reads the last block that an engine's hash maps to. */
  static Request lastMapped(long engineKey) {
    return Request.cmd(Command.ZRANGE).arg(engineKey(engineKey)).arg("-1").arg("-1");
  }

  /** Deletes the mapping of an engine's hash, unless a pod holds one of these blocks. */
  static Request prune(long engineKey, List<byte[]> requestKeys) {
    Request request =
        Request.cmd(Command.EVAL)
            .arg(PRUNE)
            .arg(Integer.toString(requestKeys.size() + 1))
            .arg(engineKey(engineKey));
    requestKeys.forEach(request::arg);
    return request;
  }

  /** Deletes the mapping of an engine's hash. */
  static Request forget(long engineKey) {
    return Request.cmd(Command.DEL).arg(engineKey(engineKey));
  }

  /** Reads a page of the keys that are hashes; mappings of engines' hashes have another type. */
  static Request scan(String cursor) {
    return Request.cmd(Command.SCAN)
        .arg(cursor)
        .arg("COUNT")
        .arg(Integer.toString(SCAN_BATCH))
        .arg("TYPE")
        .arg("hash");
  }

  /** Reads which node of a cluster owns which slots. */
  static Request slots() {
    return Request.cmd(Command.CLUSTER).arg("SLOTS");
  }

  /** A node of a cluster. */
  record Node(String host, int port) {}

  /** Returns the nodes that own slots in an answer to {@link #slots}, each once. */
  static Set<Node> masters(@Nullable Response slots) {
    Set<Node> masters = new LinkedHashSet<>();
    for (int i = 0; slots != null && i < slots.size(); i++) {
      // First slot, last slot, then the owner and its replicas.
      Response range = slots.get(i);
      Response owner = range == null || range.size() < 3 ? null : range.get(2);
      Response host = owner == null || owner.size() < 2 ? null : owner.get(0);
      if (owner != null && host != null && !host.toString().isEmpty()) {
        masters.add(new Node(host.toString(), Integer.parseInt(owner.get(1).toString())));
      }
    }
    return masters;
  }

  /** Sends the commands of each node of a cluster in one write, and restores the order. */
  static Function<List<Request>, Future<List<Response>>> spreading(RedisConnection connection) {
    RedisCluster cluster = RedisCluster.create(connection);
    return requests ->
        cluster
            .groupByNodes(requests)
            .compose(
                groups -> {
                  List<List<Request>> parts = new ArrayList<>(groups.getKeyed());
                  if (!groups.getUnkeyed().isEmpty()) {
                    parts.add(groups.getUnkeyed());
                  }
                  return Future.join(parts.stream().map(part -> sent(part, connection)).toList())
                      .map(replies -> inOrder(requests, parts, replies));
                });
  }

  /**
   * Sends the commands of one node in one write. While the cluster moves one of their slots, sends
   * each command on its own, because only then does the client follow a key to its new node.
   */
  @SuppressWarnings("NullAway") // a reply may be null, as it may in every list of replies
  private static Future<List<Response>> sent(List<Request> part, RedisConnection connection) {
    return connection
        .batch(part)
        .recover(
            e ->
                RedisFailure.ofClient(e).isMoving()
                    ? Future.join(part.stream().map(connection::send).toList())
                        .map(replies -> replies.<Response>list())
                    : Future.failedFuture(e));
  }

  private static List<Response> inOrder(
      List<Request> requests, List<List<Request>> parts, CompositeFuture replies) {
    IdentityHashMap<Request, Response> answers = new IdentityHashMap<>(requests.size());
    for (int i = 0; i < parts.size(); i++) {
      List<Response> ofPart = replies.resultAt(i);
      for (int j = 0; j < ofPart.size(); j++) {
        answers.put(parts.get(i).get(j), ofPart.get(j));
      }
    }
    return requests.stream().map(answers::get).toList();
  }
}
