/**
 * The index in Redis or Valkey, in the layout that llm-d's Go components read and write.
 *
 * <p>Here live the commands, the text of a holder, connections and the order of writes. Nothing
 * here knows a span or a meter: what went wrong is in {@link
 * io.inferspan.kvcache.index.redis.RedisIndexCounts}. State of a connection is touched on its event
 * loop only.
 */
@NullMarked
package io.inferspan.kvcache.index.redis;

import org.jspecify.annotations.NullMarked;
