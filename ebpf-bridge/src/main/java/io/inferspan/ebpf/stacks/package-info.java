/**
 * Counts stacks of processes in the kernel: of running threads, waits, CUDA calls and GPU work.
 *
 * <p>The package loads its own programs, and closing the recorder unloads them. It needs a running
 * bridge only to tell the requests of stacks apart.
 */
@NullMarked
package io.inferspan.ebpf.stacks;

import org.jspecify.annotations.NullMarked;
