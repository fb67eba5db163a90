/**
 * The bytes of an event and what they mean.
 *
 * <p>Here live the layout that is shared with {@code bpf/include/wire.h}, a view that reads it in
 * place, and the closed vocabulary of kinds. Nothing here allocates per event, keeps one, or knows
 * of spans.
 */
@NullMarked
package io.inferspan.ebpf.wire;

import org.jspecify.annotations.NullMarked;
