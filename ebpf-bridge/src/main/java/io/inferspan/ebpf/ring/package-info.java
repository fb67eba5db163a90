/**
 * Reads events from the kernel's ring buffer, without a native call per event.
 *
 * <p>Contains the mapped consumer and the thread that runs it. The meaning of events is defined
 * elsewhere.
 */
@NullMarked
package io.inferspan.ebpf.ring;

import org.jspecify.annotations.NullMarked;
