/**
 * Stacks of processes, counted in the kernel: what runs, by a timer, and what waits.
 *
 * <p>Needs no bridge: it has programs of its own, which are gone when it is closed.
 */
@NullMarked
package io.inferspan.ebpf.stacks;

import org.jspecify.annotations.NullMarked;
