/**
 * Meters of the index and of the events that keep it true.
 *
 * <p>Only this package depends on Micrometer. It reads the counts of the other packages and wraps
 * an index; without it, Micrometer need not be on the class path.
 */
@NullMarked
package io.inferspan.kvcache.metrics;

import org.jspecify.annotations.NullMarked;
