/**
 * The eBPF bridge: kernel and CUDA events as spans under the request that caused them.
 *
 * <p>Here lives what talks to the kernel; what is seen there is decided by the programs in {@code
 * bpf}.
 */
@NullMarked
package io.inferspan.ebpf;

import org.jspecify.annotations.NullMarked;
