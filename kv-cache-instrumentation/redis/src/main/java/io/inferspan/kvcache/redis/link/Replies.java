package io.inferspan.kvcache.redis.link;

import io.vertx.redis.client.Response;
import java.util.List;

/** The outcome of sent commands: exactly one of these calls, on the connection's event loop. */
public interface Replies {

  /** All commands were answered without an error. */
  void arrived(List<Response> replies);

  /** Some commands were refused or not answered. */
  void failed(String reason);
}
