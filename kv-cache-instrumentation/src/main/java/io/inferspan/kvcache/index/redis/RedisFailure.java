package io.inferspan.kvcache.index.redis;

/** Why Redis did not do something; made for each write that fails, hence without a stack trace. */
final class RedisFailure extends RuntimeException {

  private static final long serialVersionUID = 1L;

  RedisFailure(String reason) {
    super(reason, null, false, false);
  }
}
