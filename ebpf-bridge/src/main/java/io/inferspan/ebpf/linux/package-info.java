/**
 * Linux interfaces: system calls, mapped memory, clocks, and the files that describe the machine
 * and this process.
 *
 * <p>Everything here applies to any Linux program. Nothing here depends on BPF objects, events or
 * spans; of {@code bpf(2)} only the call itself is here. Only this package, {@code libbpf} and
 * {@code ring} use {@code java.lang.foreign}.
 */
@NullMarked
package io.inferspan.ebpf.linux;

import org.jspecify.annotations.NullMarked;
