/**
 * The layout that llm-d's Go components read and write: keys, commands and the format of a holder.
 *
 * <p>Everything that must match byte for byte is here; nothing here depends on a connection. The
 * package is not exported.
 */
@NullMarked
package io.inferspan.kvcache.redis.layout;

import org.jspecify.annotations.NullMarked;
