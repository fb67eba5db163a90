/**
 * The index: which pods hold which blocks, in memory or in Redis.
 *
 * <p>Here live {@link io.inferspan.kvcache.index.BlockIndex}, its two backends and the decorator
 * that records spans. How blocks become scores is in {@code score}, how engines tell of them in
 * {@code events}.
 */
@NullMarked
package io.inferspan.kvcache.index;

import org.jspecify.annotations.NullMarked;
