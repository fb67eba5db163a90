/**
 * The binary format of events.
 *
 * <p>Contains the layout that is shared with {@code bpf/include/wire.h}, a view that reads it in
 * place, and the closed set of kinds. Nothing here allocates per event, keeps events, or depends on
 * spans.
 */
@NullMarked
package io.inferspan.ebpf.wire;

import org.jspecify.annotations.NullMarked;
