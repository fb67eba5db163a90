package io.inferspan.kvcache.redis.link;

import io.vertx.core.Future;
import io.vertx.redis.client.RedisCluster;
import io.vertx.redis.client.RedisConnection;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.RequestGrouping;
import io.vertx.redis.client.Response;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;

/** Sends many commands at once and returns the answers in order, with null for a nil answer. */
@FunctionalInterface
interface RedisPipeline {

  Future<List<Response>> send(List<Request> requests);

  /** Creates a pipeline to one server: all commands in one write. */
  static RedisPipeline single(RedisConnection connection) {
    return connection::batch;
  }

  /** Creates a pipeline to a cluster: one write per node involved. */
  static RedisPipeline clustered(RedisConnection connection) {
    RedisCluster cluster = RedisCluster.create(connection);
    return requests ->
        cluster.groupByNodes(requests).compose(groups -> spread(connection, requests, groups));
  }

  private static Future<List<Response>> spread(
      RedisConnection connection, List<Request> requests, RequestGrouping groups) {
    IdentityHashMap<Request, Integer> places = new IdentityHashMap<>(requests.size());
    for (int i = 0; i < requests.size(); i++) {
      places.put(requests.get(i), i);
    }
    Response[] answers = new Response[requests.size()];
    List<Future<?>> parts = new ArrayList<>();
    for (List<Request> group : groups.getKeyed()) {
      parts.add(
          connection.batch(group).onSuccess(replies -> place(group, replies, places, answers)));
    }
    List<Request> anywhere = groups.getUnkeyed();
    if (!anywhere.isEmpty()) {
      parts.add(
          connection
              .batch(anywhere)
              .onSuccess(replies -> place(anywhere, replies, places, answers)));
    }
    return Future.join(parts).map(done -> Arrays.asList(answers));
  }

  private static void place(
      List<Request> group,
      List<Response> replies,
      IdentityHashMap<Request, Integer> places,
      Response[] answers) {
    for (int i = 0; i < group.size(); i++) {
      Integer place = places.get(group.get(i));
      if (place != null) {
        answers[place] = replies.get(i);
      }
    }
  }
}
