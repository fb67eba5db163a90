/**
 * The bridge's own meters.
 *
 * <p>No other package depends on Micrometer, which is optional at run time.
 */
@NullMarked
package io.inferspan.ebpf.metrics;

import org.jspecify.annotations.NullMarked;
