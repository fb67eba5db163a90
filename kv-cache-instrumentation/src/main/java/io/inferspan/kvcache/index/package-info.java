/**
 * The index of the pods that hold each block.
 *
 * <p>Contains {@link io.inferspan.kvcache.index.BlockIndex} and its in-memory implementation. Both
 * record no spans; a wrapper adds them. The Redis implementation and the reader of engines' events
 * are separate modules.
 */
@NullMarked
package io.inferspan.kvcache.index;

import org.jspecify.annotations.NullMarked;
