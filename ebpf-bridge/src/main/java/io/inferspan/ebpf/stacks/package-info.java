/**
 * Counts stacks of processes in the kernel: of running threads, waits, CUDA calls and GPU work.
 *
 * <p>The package loads its own programs and works without a bridge. Closing the recorder unloads
 * them.
 */
@NullMarked
package io.inferspan.ebpf.stacks;

import org.jspecify.annotations.NullMarked;
