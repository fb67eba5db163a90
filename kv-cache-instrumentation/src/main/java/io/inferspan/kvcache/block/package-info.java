/**
 * Block keys: the name of a KV block, made from all tokens up to its end.
 *
 * <p>Here live the two hash chains that llm-d's Go components use, bit for bit. Nothing here knows
 * an index, a pod or a span.
 */
@NullMarked
package io.inferspan.kvcache.block;

import org.jspecify.annotations.NullMarked;
