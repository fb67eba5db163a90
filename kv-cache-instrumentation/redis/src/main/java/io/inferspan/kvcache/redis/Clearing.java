package io.inferspan.kvcache.redis;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.inferspan.kvcache.index.PodEntry;
import io.inferspan.kvcache.redis.Writes.Write;
import io.inferspan.kvcache.redis.layout.PodFields;
import io.inferspan.kvcache.redis.layout.RedisCommands;
import io.inferspan.kvcache.redis.link.Operation;
import io.inferspan.kvcache.redis.link.RedisFailure;
import io.inferspan.kvcache.redis.link.RedisLink;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Removes a pod from all blocks, page by page through all keys.
 *
 * <p>The clearing as a whole has no deadline, because it takes as long as there are keys; each page
 * has one.
 *
 * @param link the connection to the server; in a cluster it names the nodes
 */
record Clearing(RedisLink link, PodFields fields, String pod) {

  private static final String END = "0";

  Future<Void> run(Write write) {
    if (!link.clustered()) {
      return new Scan(link, write).pages();
    }
    return write.send(List.of(RedisCommands.slots())).compose(slots -> eachOf(slots.get(0), write));
  }

  private Future<Void> eachOf(@Nullable Response slots, Write write) {
    List<RedisLink> nodes = new ArrayList<>();
    for (RedisCommands.Node master : RedisCommands.masters(slots)) {
      nodes.add(link.toNode(master.host(), master.port()));
    }
    if (nodes.isEmpty()) {
      return Future.failedFuture(new RedisFailure("the cluster did not report its nodes"));
    }
    CompletionStage<Void> unused =
        write.result().whenComplete((done, failure) -> nodes.forEach(RedisLink::close));
    Future<Void> all = Future.succeededFuture();
    for (RedisLink node : nodes) {
      all = all.compose(before -> whenConnected(node, write));
    }
    return all;
  }

  private Future<Void> whenConnected(RedisLink node, Write write) {
    Scan scan = new Scan(node, write);
    node.connect();
    node.startOrPark(scan);
    return Future.fromCompletionStage(scan.result());
  }

  /** One server's keys. In a cluster it is an operation, which waits for its connection. */
  private final class Scan extends Operation<Void> {

    private final RedisLink server;
    private final Write write;
    private final Promise<Void> done = Promise.promise();

    Scan(RedisLink server, Write write) {
      this.server = server;
      this.write = write;
    }

    @Override
    protected Future<Void> work() {
      return pages();
    }

    Future<Void> pages() {
      page(END);
      return done.future();
    }

    private void page(String cursor) {
      send(List.of(RedisCommands.scan(cursor)))
          .compose(replies -> dropFrom(replies.get(0)))
          .onComplete(
              next -> {
                if (next.failed()) {
                  done.fail(next.cause());
                } else if (next.result().equals(END)) {
                  done.complete();
                } else {
                  page(next.result());
                }
              });
    }

    private Future<List<Response>> send(List<Request> requests) {
      return write.send(server, requests);
    }

    /** Removes the pod from the blocks of a page, and returns the next page's cursor. */
    private Future<String> dropFrom(@Nullable Response page) {
      if (page == null || page.size() != 2 || page.get(0) == null) {
        return Future.failedFuture(new IllegalStateException("no page"));
      }
      String next = page.get(0).toString(ISO_8859_1);
      List<byte[]> keys = new ArrayList<>(page.get(1).size());
      List<Request> questions = new ArrayList<>(page.get(1).size());
      for (Response key : page.get(1)) {
        if (RedisCommands.isRequestKey(key)) {
          keys.add(key.toBytes());
          questions.add(RedisCommands.holders(keys.get(keys.size() - 1)));
        }
      }
      return questions.isEmpty()
          ? Future.succeededFuture(next)
          : send(questions).compose(holders -> drop(keys, holders)).map(next);
    }

    private Future<?> drop(List<byte[]> keys, List<Response> holders) {
      List<Request> requests = new ArrayList<>();
      for (int i = 0; i < keys.size(); i++) {
        List<byte[]> mine = fieldsOfPod(holders.get(i));
        if (!mine.isEmpty()) {
          requests.add(RedisCommands.dropHolders(keys.get(i), mine));
        }
      }
      return requests.isEmpty() ? Future.succeededFuture() : send(requests);
    }

    /**
     * Returns the fields as they were read, since another implementation may have formatted them
     * differently.
     */
    private List<byte[]> fieldsOfPod(@Nullable Response holders) {
      List<byte[]> mine = new ArrayList<>();
      for (int i = 0; holders != null && i < holders.size(); i++) {
        PodEntry holder = fields.read(holders.get(i));
        if (holder != null && holder.pod().equals(pod)) {
          mine.add(holders.get(i).toBytes());
        }
      }
      return mine;
    }
  }
}
