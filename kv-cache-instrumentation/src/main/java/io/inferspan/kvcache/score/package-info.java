/**
 * Scores: how much of a prompt each pod holds.
 *
 * <p>Here lives what turns the blocks that an index found into a number per pod. It reads no index
 * and records no span.
 */
@NullMarked
package io.inferspan.kvcache.score;

import org.jspecify.annotations.NullMarked;
