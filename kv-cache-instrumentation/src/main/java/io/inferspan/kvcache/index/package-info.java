/**
 * The index of the pods that hold each block, in memory or in Redis.
 *
 * <p>Contains {@link io.inferspan.kvcache.index.BlockIndex} and the backend in memory, which do not
 * depend on spans; a wrapper adds them. Scores are in {@code score}, engines' events in {@code
 * events}.
 */
@NullMarked
package io.inferspan.kvcache.index;

import org.jspecify.annotations.NullMarked;
