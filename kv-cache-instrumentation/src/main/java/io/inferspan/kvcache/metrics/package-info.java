/**
 * Meters of the index.
 *
 * <p>Nothing else in this module depends on Micrometer; without this package, it need not be on the
 * class path.
 */
@NullMarked
package io.inferspan.kvcache.metrics;

import org.jspecify.annotations.NullMarked;
