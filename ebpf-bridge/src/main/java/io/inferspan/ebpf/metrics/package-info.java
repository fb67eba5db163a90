/**
 * The bridge's own meters.
 *
 * <p>The only package that depends on Micrometer, which is optional at run time.
 */
@NullMarked
package io.inferspan.ebpf.metrics;

import org.jspecify.annotations.NullMarked;
