/**
 * A block index in Redis or Valkey, in the layout that llm-d's Go components read and write.
 *
 * <p>Nothing here depends on spans or meters: failures are counted in {@link
 * io.inferspan.kvcache.redis.RedisIndexCounts}.
 */
@NullMarked
package io.inferspan.kvcache.redis;

import org.jspecify.annotations.NullMarked;
