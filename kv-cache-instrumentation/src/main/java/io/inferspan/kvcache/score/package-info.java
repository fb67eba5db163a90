/**
 * Scores pods by how much of a prompt they hold.
 *
 * <p>The scorer converts the result of a lookup to one number per pod. It reads no index and
 * records no span.
 */
@NullMarked
package io.inferspan.kvcache.score;

import org.jspecify.annotations.NullMarked;
