/**
 * Measures the bridge's cost for observed processes, compared with bpftrace and with no
 * observation.
 *
 * <p>The observed programs are in {@code bpf/testkit}. The subjects of a comparison take turns, so
 * that a change of the machine's speed affects all of them.
 */
@NullMarked
package io.inferspan.samples.ebpf.cost;

import org.jspecify.annotations.NullMarked;
