/**
 * A block index in Redis or Valkey, in the layout that llm-d's Go components read and write.
 *
 * <p>Nothing here records spans. Failures are counted in {@link
 * io.inferspan.kvcache.redis.RedisIndexCounts}, which only {@link
 * io.inferspan.kvcache.redis.RedisMeters} exposes to Micrometer.
 */
@NullMarked
package io.inferspan.kvcache.redis;

import org.jspecify.annotations.NullMarked;
