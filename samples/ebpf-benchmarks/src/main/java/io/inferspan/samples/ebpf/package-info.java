/** The eBPF bridge's cost inside the process that embeds it. */
@NullMarked
package io.inferspan.samples.ebpf;

import org.jspecify.annotations.NullMarked;
