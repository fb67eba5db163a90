package io.inferspan.kvcache.redis.link;

import io.vertx.redis.client.Response;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A node of a cluster that owns keys. */
public record ClusterNode(String host, int port) {

  /** Returns the owners in an answer to {@code CLUSTER SLOTS}, each once. */
  public static Set<ClusterNode> masters(@Nullable Response slots) {
    Set<ClusterNode> masters = new LinkedHashSet<>();
    for (int i = 0; slots != null && i < slots.size(); i++) {
      // First slot, last slot, then the owner and its replicas.
      Response range = slots.get(i);
      Response owner = range == null || range.size() < 3 ? null : range.get(2);
      Response host = owner == null || owner.size() < 2 ? null : owner.get(0);
      if (owner != null && host != null && !host.toString().isEmpty()) {
        masters.add(new ClusterNode(host.toString(), Integer.parseInt(owner.get(1).toString())));
      }
    }
    return masters;
  }
}
