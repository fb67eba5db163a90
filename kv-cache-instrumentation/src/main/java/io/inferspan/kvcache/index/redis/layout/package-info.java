/**
 * The layout that llm-d's Go components read and write: keys, commands and the text of a holder.
 *
 * <p>Here lives what must be the same byte for byte; nothing here knows a connection. The package
 * is not exported.
 */
@NullMarked
package io.inferspan.kvcache.index.redis.layout;

import org.jspecify.annotations.NullMarked;
