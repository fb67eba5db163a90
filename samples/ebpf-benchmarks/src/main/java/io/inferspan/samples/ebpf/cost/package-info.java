/**
 * Measures the bridge's cost for observed processes, compared with bpftrace and with no
 * observation.
 *
 * <p>The observed programs are in {@code bpf/testkit}. Figures that depend on the machine's speed
 * are ratios between subjects that take turns.
 */
@NullMarked
package io.inferspan.samples.ebpf.cost;

import org.jspecify.annotations.NullMarked;
