/**
 * Registers the bridge's own meters.
 *
 * <p>Micrometer is optional at run time, so these classes are loaded only when a registry is bound.
 */
@NullMarked
package io.inferspan.ebpf.metrics;

import org.jspecify.annotations.NullMarked;
