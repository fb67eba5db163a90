/**
 * Turns events into spans: the events of one request are grouped, folded and written as children of
 * the request's span.
 *
 * <p>Everything runs on the ring's thread, except methods that any thread may call. Sizes are
 * bounded, and objects are allocated per span rather than per event. Nothing here depends on how
 * events are transported.
 */
@NullMarked
package io.inferspan.ebpf.spans;

import org.jspecify.annotations.NullMarked;
