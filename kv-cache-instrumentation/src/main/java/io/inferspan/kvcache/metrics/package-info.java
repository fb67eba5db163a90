/**
 * Meters of the index and of the events that keep it true.
 *
 * <p>Only this package knows Micrometer. It reads what the other rooms count and counts around an
 * index; whoever does not use it needs no Micrometer on the class path.
 */
@NullMarked
package io.inferspan.kvcache.metrics;

import org.jspecify.annotations.NullMarked;
