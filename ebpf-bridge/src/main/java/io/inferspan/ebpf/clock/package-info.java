/** Compares the clocks of several hosts. */
@NullMarked
package io.inferspan.ebpf.clock;

import org.jspecify.annotations.NullMarked;
