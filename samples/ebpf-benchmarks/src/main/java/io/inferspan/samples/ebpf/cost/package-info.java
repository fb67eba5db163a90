/**
 * The bridge's cost for observed processes, compared with bpftrace and with no observation in one
 * run.
 *
 * <p>Contains the measuring programs, not the measured ones. All figures that depend on time are
 * ratios of two subjects that took turns.
 */
@NullMarked
package io.inferspan.samples.ebpf.cost;

import org.jspecify.annotations.NullMarked;
