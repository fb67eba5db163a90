/**
 * The bridge's own meters.
 *
 * <p>The one room that knows Micrometer, which need not be there at run time.
 */
@NullMarked
package io.inferspan.ebpf.metrics;

import org.jspecify.annotations.NullMarked;
