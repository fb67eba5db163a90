package io.inferspan.kvcache.redis;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.inferspan.kvcache.index.PodEntry;
import io.inferspan.kvcache.redis.Writes.Write;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Removes a pod from all blocks, page by page through all keys of each server.
 *
 * <p>Each page has a timeout. The clearing as a whole has none, because its duration depends on the
 * number of keys.
 */
record Clearing(String pod, Write write) {

  private static final String END = "0";

  Future<Void> run() {
    if (!write.link.clustered()) {
      return new Scan(write::send).pages();
    }
    return write
        .send(List.of(RedisCommands.slots()))
        .compose(slots -> eachOf(RedisCommands.masters(slots.get(0))));
  }

  private Future<Void> eachOf(Set<RedisCommands.Node> masters) {
    if (masters.isEmpty()) {
      return Future.failedFuture(new RedisFailure("the cluster did not report its nodes"));
    }
    Future<Void> all = Future.succeededFuture();
    for (RedisCommands.Node master : masters) {
      all = all.compose(before -> allOf(master));
    }
    return all;
  }

  private Future<Void> allOf(RedisCommands.Node master) {
    Redis node = write.link.clientOf(master);
    CompletionStage<Void> unused = write.result().whenComplete((done, failure) -> node.close());
    Function<List<Request>, Future<List<Response>>> batch = node::batch;
    return new Scan(requests -> write.unlessOver(write.link.answered(batch.apply(requests))))
        .pages();
  }

  /** One server's keys. */
  private final class Scan {

    private final Function<List<Request>, Future<List<Response>>> server;
    private final Promise<Void> done = Promise.promise();

    Scan(Function<List<Request>, Future<List<Response>>> server) {
      this.server = server;
    }

    Future<Void> pages() {
      page(END);
      return done.future();
    }

    private void page(String cursor) {
      server
          .apply(List.of(RedisCommands.scan(cursor)))
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

    /** Removes the pod from the blocks of a page, and returns the next page's cursor. */
    private Future<String> dropFrom(@Nullable Response page) {
      if (page == null || page.size() != 2 || page.get(0) == null) {
        return Future.failedFuture(new IllegalStateException("no page"));
      }
      String next = page.get(0).toString(ISO_8859_1);
      List<byte[]> keys = new ArrayList<>(page.get(1).size());
      for (Response key : page.get(1)) {
        if (RedisCommands.isRequestKey(key)) {
          keys.add(key.toBytes());
        }
      }
      return keys.isEmpty()
          ? Future.succeededFuture(next)
          : server
              .apply(keys.stream().map(RedisCommands::holders).toList())
              .compose(holders -> drop(keys, holders))
              .map(next);
    }

    private Future<?> drop(List<byte[]> keys, List<Response> holders) {
      List<Request> requests = new ArrayList<>();
      for (int i = 0; i < keys.size(); i++) {
        List<byte[]> mine = fieldsOfPod(holders.get(i));
        if (!mine.isEmpty()) {
          requests.add(RedisCommands.dropHolders(keys.get(i), mine));
        }
      }
      return requests.isEmpty() ? Future.succeededFuture() : server.apply(requests);
    }

    /**
     * Returns the fields as they were read, since another implementation may have formatted them
     * differently.
     */
    private List<byte[]> fieldsOfPod(@Nullable Response holders) {
      List<byte[]> mine = new ArrayList<>();
      for (int i = 0; holders != null && i < holders.size(); i++) {
        PodEntry holder = write.link.fields.read(holders.get(i));
        if (holder != null && holder.pod().equals(pod)) {
          mine.add(holders.get(i).toBytes());
        }
      }
      return mine;
    }
  }
}
