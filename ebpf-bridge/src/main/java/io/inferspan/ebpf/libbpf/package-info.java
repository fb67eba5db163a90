/**
 * BPF objects, maps, programs and links, through the system's libbpf and {@code bpf(2)}.
 *
 * <p>Nothing here depends on the bridge's own programs or events. If the kernel refuses an
 * operation, the exception explains why.
 */
@NullMarked
package io.inferspan.ebpf.libbpf;

import org.jspecify.annotations.NullMarked;
