/**
 * Reads events from the kernel's ring buffer, without a native call per event.
 *
 * <p>Nothing here depends on the meaning of events.
 */
@NullMarked
package io.inferspan.ebpf.ring;

import org.jspecify.annotations.NullMarked;
