/**
 * BPF objects, maps, programs and links, through the system's libbpf and {@code bpf(2)}.
 *
 * <p>Contains everything that the kernel may refuse, and the explanation of a refusal. Nothing here
 * depends on the bridge's programs, the meaning of their events, or the observed processes.
 */
@NullMarked
package io.inferspan.ebpf.libbpf;

import org.jspecify.annotations.NullMarked;
