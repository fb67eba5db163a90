/**
 * The index of the pods that hold each block.
 *
 * <p>Contains {@link io.inferspan.kvcache.index.BlockIndex} and the backend in memory, which do not
 * depend on spans; a wrapper adds them. The backend in Redis and engines' events are modules of
 * their own.
 */
@NullMarked
package io.inferspan.kvcache.index;

import org.jspecify.annotations.NullMarked;
