/**
 * A block index in Redis or Valkey, in the layout that llm-d's Go components read and write.
 *
 * <p>Contains the index, its options, lookups and ordered writes. Connections are in {@code link},
 * keys and commands in {@code layout}. Nothing here depends on spans or meters: failures are
 * counted in {@link io.inferspan.kvcache.redis.RedisIndexCounts}.
 */
@NullMarked
package io.inferspan.kvcache.redis;

import org.jspecify.annotations.NullMarked;
