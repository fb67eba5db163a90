/**
 * What the bridge costs those whom it watches, beside bpftrace and beside nothing, in one run.
 *
 * <p>Here lives what measures, not what is measured. Whatever depends on time is a ratio of two
 * subjects that took turns.
 */
@NullMarked
package io.inferspan.samples.ebpf.cost;

import org.jspecify.annotations.NullMarked;
