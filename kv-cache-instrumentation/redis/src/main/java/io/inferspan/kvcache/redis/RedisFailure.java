package io.inferspan.kvcache.redis;

/**
 * Reports why Redis did not do something. It has no stack trace, because each failed write makes
 * one.
 */
final class RedisFailure extends RuntimeException {

  private static final long serialVersionUID = 1L;

  RedisFailure(String reason) {
    super(reason, null, false, false);
  }
}
