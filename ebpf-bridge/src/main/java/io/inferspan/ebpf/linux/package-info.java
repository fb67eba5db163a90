/**
 * Linux interfaces: system calls, mapped memory, clocks, and the files that describe the machine
 * and this process.
 *
 * <p>Nothing here depends on BPF objects, events or spans. Only this package, {@code libbpf} and
 * {@code ring} link native functions.
 */
@NullMarked
package io.inferspan.ebpf.linux;

import org.jspecify.annotations.NullMarked;
