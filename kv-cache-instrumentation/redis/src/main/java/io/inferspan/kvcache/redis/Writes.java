package io.inferspan.kvcache.redis;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.inferspan.kvcache.index.KeyType;
import io.vertx.core.Future;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Writes changes to Redis over one connection, in order for each pod. Thread-safe. */
final class Writes {

  private static final String ALL_PODS = "";

  final RedisLink link;
  private final long timeoutMillis;
  private final Map<String, PodQueue> queues = new HashMap<>();

  Writes(RedisLink link, long timeoutMillis) {
    this.link = link;
    this.timeoutMillis = timeoutMillis;
  }

  /** Adds a pod to blocks. */
  CompletionStage<Void> add(
      String pod, List<byte[]> fields, long[] engineKeys, long[] requestKeys) {
    int commands = engineKeys.length + requestKeys.length;
    return begin(
        new Write(
            Kind.ADD,
            pod,
            commands,
            write -> {
              List<Request> requests = new ArrayList<>(commands);
              for (long key : requestKeys) {
                requests.add(RedisCommands.addHolders(key, fields));
              }
              // Holders first: a reader that found the mapping before its blocks would drop it as
              // stale.
              RedisCommands.map(engineKeys, requestKeys, requests);
              return write.send(requests).mapEmpty();
            }));
  }

  /**
   * Removes a pod from a block, or from all blocks that an engine's hash maps to.
   *
   * <p>Redis deletes a block with its last holder. The mapping of an engine's hash is deleted only
   * if none of its blocks has a holder.
   */
  CompletionStage<Void> evict(String pod, List<byte[]> fields, long key, KeyType type) {
    return begin(
        new Write(
            Kind.REMOVE,
            pod,
            1,
            write -> {
              if (type == KeyType.REQUEST) {
                byte[] block = RedisCommands.requestKey(key);
                return write.send(List.of(RedisCommands.dropHolders(block, fields))).mapEmpty();
              }
              return write
                  .send(List.of(RedisCommands.mapped(key)))
                  .compose(replies -> drop(write, fields, key, blocks(replies.get(0))));
            }));
  }

  private List<byte[]> blocks(@Nullable Response members) {
    List<byte[]> blocks = new ArrayList<>();
    for (int i = 0; members != null && i < members.size(); i++) {
      Response member = members.get(i);
      if (RedisCommands.isRequestKey(member)) {
        blocks.add(member.toBytes());
      } else {
        link.counts.increment(RedisIndexCount.UNREADABLE_FIELDS);
      }
    }
    return blocks;
  }

  private Future<Void> drop(Write write, List<byte[]> fields, long key, List<byte[]> blocks) {
    if (blocks.isEmpty()) {
      // The hash was never added, or its mapping was deleted.
      return Future.succeededFuture();
    }
    // In a cluster no script can access the blocks and the mapping, which are on different nodes.
    // Instead, the remaining holders are counted here before the mapping is deleted.
    boolean countsHolders = link.clustered();
    List<Request> requests = new ArrayList<>(2 * blocks.size());
    for (byte[] block : blocks) {
      requests.add(RedisCommands.dropHolders(block, fields));
      if (countsHolders) {
        requests.add(RedisCommands.holderCount(block));
      }
    }
    if (!countsHolders) {
      requests.add(RedisCommands.prune(key, blocks));
      return write.send(requests).mapEmpty();
    }
    return write.send(requests).compose(replies -> forgetIfUnheld(write, key, replies));
  }

  private static Future<Void> forgetIfUnheld(Write write, long key, List<Response> replies) {
    for (int i = 1; i < replies.size(); i += 2) {
      Response count = replies.get(i);
      if (count == null || !count.toString().equals("0")) {
        return Future.succeededFuture();
      }
    }
    return write.send(List.of(RedisCommands.forget(key))).mapEmpty();
  }

  /** Removes a pod from all blocks. */
  CompletionStage<Void> clear(String pod) {
    return begin(new Write(Kind.CLEAR, pod, 1, write -> new Clearing(pod, write).run()));
  }

  private CompletionStage<Void> begin(Write write) {
    link.counts.increment(RedisIndexCount.WRITES);
    return write.submit(() -> queue(write).take(write));
  }

  /** Reads the last block that an engine's hash maps to; the answer includes completed writes. */
  CompletionStage<OptionalLong> requestKey(long engineKey) {
    Operation<OptionalLong> query =
        new Operation<>(link, 1) {
          @Override
          Future<OptionalLong> work() {
            return send(List.of(RedisCommands.lastMapped(engineKey)))
                .map(replies -> keyOf(replies.get(0)));
          }
        };
    return query.submit(
        () -> {
          query.expireAfter(timeoutMillis);
          link.startOrPark(query);
        });
  }

  private OptionalLong keyOf(@Nullable Response members) {
    Response member = members == null || members.size() == 0 ? null : members.get(0);
    if (member == null) {
      return OptionalLong.empty();
    }
    if (!RedisCommands.isRequestKey(member)) {
      link.counts.increment(RedisIndexCount.UNREADABLE_FIELDS);
      return OptionalLong.empty();
    }
    return OptionalLong.of(Long.parseUnsignedLong(member.toString(ISO_8859_1)));
  }

  private PodQueue queue(Write write) {
    return queues.computeIfAbsent(queueOf(write), ignored -> new PodQueue());
  }

  /**
   * Returns the name of the queue for a write. In a cluster, all pods share one, because no pod's
   * addition may run between the check for holders and the deletion of a mapping.
   */
  private String queueOf(Write write) {
    return link.clustered() ? ALL_PODS : write.pod;
  }

  /** The kind of a change, which determines the writes that it may run concurrently with. */
  enum Kind {
    ADD,
    REMOVE,
    CLEAR
  }

  /** A change of one pod's blocks. */
  final class Write extends Operation<Void> {

    final Kind kind;
    private final String pod;
    private final Function<Write, Future<Void>> work;
    private @Nullable PodQueue queue;

    /**
     * Creates a change.
     *
     * @param commands the number of commands to count as pending until it ends
     */
    private Write(Kind kind, String pod, int commands, Function<Write, Future<Void>> work) {
      super(Writes.this.link, commands);
      this.kind = kind;
      this.pod = pod;
      this.work = work;
    }

    /** Sets the deadline, except for a clearing, whose duration depends on the number of keys. */
    void expire() {
      if (kind != Kind.CLEAR) {
        expireAfter(timeoutMillis);
      }
    }

    /** Starts the write; the queue is notified when it has finished. */
    void startFrom(PodQueue queue) {
      this.queue = queue;
      link.startOrPark(this);
    }

    @Override
    Future<Void> work() {
      return work.apply(this);
    }

    @Override
    void ended(@Nullable RedisFailure failure) {
      if (failure != null) {
        link.counts.increment(RedisIndexCount.WRITE_FAILURES);
      }
      PodQueue mine = queue;
      if (mine != null && mine.finished(this)) {
        queues.remove(queueOf(this), mine);
      }
    }
  }
}
