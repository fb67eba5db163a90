/**
 * BPF objects, maps, programs and links, through the system's libbpf and {@code bpf(2)}.
 *
 * <p>Here lives everything that the kernel may refuse, and the sentence that says why it did.
 * Nothing here knows which programs the bridge has, what their events mean, or which process is
 * observed.
 */
@NullMarked
package io.inferspan.ebpf.libbpf;

import org.jspecify.annotations.NullMarked;
