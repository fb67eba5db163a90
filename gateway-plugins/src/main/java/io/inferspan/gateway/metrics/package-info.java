/**
 * A gateway's meters, as in the GenAI conventions.
 *
 * <p>Contains what depends on Micrometer. Tags have few values, whatever clients send.
 */
@NullMarked
package io.inferspan.gateway.metrics;

import org.jspecify.annotations.NullMarked;
