/**
 * Scores: how much of a prompt each pod holds.
 *
 * <p>Contains the scorer, which turns the holders that an index found into a number per pod. It
 * reads no index and records no span.
 */
@NullMarked
package io.inferspan.kvcache.score;

import org.jspecify.annotations.NullMarked;
