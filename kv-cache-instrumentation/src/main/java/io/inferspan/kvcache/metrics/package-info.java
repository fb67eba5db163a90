/**
 * Meters of the index.
 *
 * <p>Nothing else in this module depends on Micrometer, which is needed at run time only if this
 * package is used.
 */
@NullMarked
package io.inferspan.kvcache.metrics;

import org.jspecify.annotations.NullMarked;
