/**
 * The binary format of events.
 *
 * <p>The layout is that of {@code bpf/include/wire.h}. {@code EventView} reads events in place,
 * without allocating objects.
 */
@NullMarked
package io.inferspan.ebpf.wire;

import org.jspecify.annotations.NullMarked;
