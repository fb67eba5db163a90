package io.inferspan.kvcache.redis;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.inferspan.kvcache.index.PodEntry;
import io.inferspan.kvcache.redis.layout.PodFields;
import io.inferspan.kvcache.redis.layout.RedisCommands;
import io.inferspan.kvcache.redis.link.ClusterNode;
import io.inferspan.kvcache.redis.link.Operation;
import io.inferspan.kvcache.redis.link.RedisLink;
import io.vertx.core.Future;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Removes a pod from all blocks, page by page through all keys.
 *
 * <p>The operation as a whole has no deadline, because it takes as long as there are keys; each
 * page has one.
 */
final class ClearWrite extends Write {

  private static final String END = "0";

  private final PodFields fields;
  private final List<RedisLink> nodes = new ArrayList<>();
  private int node;

  ClearWrite(Writes writes, String pod, PodFields fields) {
    super(writes, pod, 1);
    this.fields = fields;
  }

  @Override
  Kind kind() {
    return Kind.CLEAR;
  }

  @Override
  public void start() {
    if (writes().link().clustered()) {
      send(List.of(RedisCommands.slots()), replies -> eachOf(replies.get(0)));
    } else {
      scan(writes().link(), END);
    }
  }

  private void scan(RedisLink link, String cursor) {
    send(link, List.of(RedisCommands.scan(cursor)), replies -> page(link, replies.get(0)));
  }

  private void page(RedisLink link, @Nullable Response page) {
    if (page == null || page.size() != 2 || page.get(0) == null) {
      refused(RedisLink.STRANGE);
      return;
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
    if (questions.isEmpty()) {
      goOn(link, next);
    } else {
      send(link, questions, holders -> drop(link, next, keys, holders));
    }
  }

  private void drop(RedisLink link, String next, List<byte[]> keys, List<Response> holders) {
    List<Request> requests = new ArrayList<>();
    for (int i = 0; i < keys.size(); i++) {
      List<byte[]> mine = fieldsOfPod(holders.get(i));
      if (!mine.isEmpty()) {
        requests.add(RedisCommands.dropHolders(keys.get(i), mine));
      }
    }
    if (requests.isEmpty()) {
      goOn(link, next);
    } else {
      send(link, requests, done -> goOn(link, next));
    }
  }

  /**
   * Returns the fields as they were read, since another implementation may have formatted them
   * differently.
   */
  private List<byte[]> fieldsOfPod(@Nullable Response holders) {
    List<byte[]> mine = new ArrayList<>();
    for (int i = 0; holders != null && i < holders.size(); i++) {
      PodEntry holder = fields.read(holders.get(i));
      if (holder != null && holder.pod().equals(pod())) {
        mine.add(holders.get(i).toBytes());
      }
    }
    return mine;
  }

  private void goOn(RedisLink link, String cursor) {
    if (!cursor.equals(END)) {
      scan(link, cursor);
    } else if (node < nodes.size()) {
      scanNext();
    } else {
      succeed();
    }
  }

  private void eachOf(@Nullable Response slots) {
    for (ClusterNode master : ClusterNode.masters(slots)) {
      nodes.add(writes().link().toNode(master.host(), master.port()));
    }
    if (nodes.isEmpty()) {
      refused("the cluster does not say where its nodes are");
      return;
    }
    scanNext();
  }

  @Override
  void letGo() {
    for (RedisLink each : nodes) {
      Future<?> unused = each.close();
    }
  }

  private void scanNext() {
    RedisLink next = nodes.get(node++);
    next.connect();
    next.startOrPark(new NodeScan(next));
  }

  /** Scans one node of a cluster once it is connected. */
  private final class NodeScan extends Operation {
    private final RedisLink link;

    NodeScan(RedisLink link) {
      super(writes().link().vertx());
      this.link = link;
    }

    @Override
    public void start() {
      if (end()) {
        scan(link, END);
      }
    }

    @Override
    public void refused(String reason) {
      if (end()) {
        ClearWrite.this.refused(reason);
      }
    }

    @Override
    public void expired() {
      refused("a node of the cluster does not answer");
    }
  }
}
