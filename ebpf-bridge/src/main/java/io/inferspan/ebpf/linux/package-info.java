/**
 * What Linux says and does: system calls, mapped memory, clocks, and the files that describe the
 * machine and this process.
 *
 * <p>Here lives what is true of any Linux program. Nothing here knows BPF objects, events or spans;
 * of {@code bpf(2)} only the call itself is here. Together with {@code libbpf} and {@code ring}, no
 * other package touches {@code java.lang.foreign}.
 */
@NullMarked
package io.inferspan.ebpf.linux;

import org.jspecify.annotations.NullMarked;
