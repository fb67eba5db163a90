/** What the eBPF bridge costs inside the process that embeds it. */
@NullMarked
package io.inferspan.samples.ebpf;

import org.jspecify.annotations.NullMarked;
