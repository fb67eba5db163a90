/**
 * Block keys, which identify a KV block by all tokens up to its end.
 *
 * <p>Contains the two hash chains that llm-d's Go components use, bit for bit. Nothing here depends
 * on an index, a pod or a span.
 */
@NullMarked
package io.inferspan.kvcache.block;

import org.jspecify.annotations.NullMarked;
