/**
 * The index in Redis or Valkey, in the layout that llm-d's Go components read and write.
 *
 * <p>Here live the index, its options, lookups, and writes in their order. Connections are in
 * {@code link}, keys and commands in {@code layout}. Nothing here knows a span or a meter: what
 * went wrong is in {@link io.inferspan.kvcache.index.redis.RedisIndexCounts}.
 */
@NullMarked
package io.inferspan.kvcache.index.redis;

import org.jspecify.annotations.NullMarked;
