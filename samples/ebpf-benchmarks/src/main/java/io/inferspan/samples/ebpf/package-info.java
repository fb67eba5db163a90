/** Benchmarks of the eBPF bridge inside the process that embeds it. */
@NullMarked
package io.inferspan.samples.ebpf;

import org.jspecify.annotations.NullMarked;
