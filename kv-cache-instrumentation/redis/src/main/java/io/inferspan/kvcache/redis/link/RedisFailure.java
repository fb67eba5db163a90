package io.inferspan.kvcache.redis.link;

/**
 * Reports why Redis did not do something. It has no stack trace, because each failed write makes
 * one.
 */
public final class RedisFailure extends RuntimeException {

  private static final String LATE = "Redis did not answer in time";

  private static final long serialVersionUID = 1L;

  /** Creates a failure that names neither a key nor a pod. */
  public RedisFailure(String reason) {
    super(reason, null, false, false);
  }

  /** Returns the failure of an operation whose deadline has passed. */
  static RedisFailure late() {
    return new RedisFailure(LATE);
  }

  /** Returns whether the deadline had passed. */
  public boolean isLate() {
    return LATE.equals(getMessage());
  }

  /** Returns the failure; anything but ours is the effect of an answer of an unexpected kind. */
  static RedisFailure of(Throwable cause) {
    return cause instanceof RedisFailure known
        ? known
        : new RedisFailure("Redis sent a response of an unexpected type");
  }
}
