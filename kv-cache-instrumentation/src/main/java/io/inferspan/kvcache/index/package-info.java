/**
 * The index: which pods hold which blocks, in memory or in Redis.
 *
 * <p>Here live {@link io.inferspan.kvcache.index.BlockIndex} and its two backends, which know no
 * span: they are wrapped. How blocks become scores is in {@code score}, how engines tell of them in
 * {@code events}.
 */
@NullMarked
package io.inferspan.kvcache.index;

import org.jspecify.annotations.NullMarked;
