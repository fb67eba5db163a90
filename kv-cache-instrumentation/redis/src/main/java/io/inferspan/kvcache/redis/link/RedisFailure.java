package io.inferspan.kvcache.redis.link;

/**
 * Reports why Redis did not do something. It has no stack trace, because each failed write makes
 * one.
 */
public final class RedisFailure extends RuntimeException {

  /** The deadline has passed. */
  public static final RedisFailure LATE = new RedisFailure("Redis did not answer in time");

  private static final long serialVersionUID = 1L;

  /** Creates a failure that names neither a key nor a pod. */
  public RedisFailure(String reason) {
    super(reason, null, false, false);
  }

  /** Returns the failure; anything but ours is the effect of an answer of an unexpected kind. */
  static RedisFailure of(Throwable cause) {
    return cause instanceof RedisFailure known
        ? known
        : new RedisFailure("Redis answered with something else");
  }
}
