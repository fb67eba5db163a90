/**
 * The eBPF bridge: kernel and CUDA events as spans under the request that caused them.
 *
 * <p>Contains what communicates with the kernel; the programs in {@code bpf} decide what is
 * observed.
 */
@NullMarked
package io.inferspan.ebpf;

import org.jspecify.annotations.NullMarked;
