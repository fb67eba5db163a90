package io.inferspan.kvcache.index.redis.link;

import io.vertx.redis.client.Response;
import java.util.List;

/** What becomes of commands that were sent: exactly one of these, on the connection's loop. */
public interface Replies {

  /** All were answered, none with an error. */
  void arrived(List<Response> replies);

  /** Some were refused, or not answered. */
  void failed(String reason);
}
