/**
 * The binary format of events.
 *
 * <p>The layout is that of {@code bpf/include/wire.h}. Nothing here allocates per event or depends
 * on spans.
 */
@NullMarked
package io.inferspan.ebpf.wire;

import org.jspecify.annotations.NullMarked;
