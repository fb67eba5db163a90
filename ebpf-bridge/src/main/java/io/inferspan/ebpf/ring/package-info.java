/**
 * Events out of the kernel's ring buffer, without a call into native code per event.
 *
 * <p>Here live the mapped consumer and the one thread that runs it. What an event means is not
 * known here.
 */
@NullMarked
package io.inferspan.ebpf.ring;

import org.jspecify.annotations.NullMarked;
