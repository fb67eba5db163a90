/**
 * Turns events into spans: the events of one request are grouped, folded and written as children of
 * the request's span.
 *
 * <p>Except for counters, everything runs on the ring's thread, has bounded size, and allocates per
 * span rather than per event. Nothing here depends on the source or the layout of events.
 */
@NullMarked
package io.inferspan.ebpf.spans;

import org.jspecify.annotations.NullMarked;
