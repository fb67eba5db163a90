/**
 * Turns events into spans: the events of one request are grouped, folded and written as children of
 * the request's span.
 *
 * <p>The package holds the open requests, the folds, the mapping of the kernel's clock to the
 * epoch, and the counters. All but the counters run on the ring's thread, are bounded, and allocate
 * per span rather than per event. The package does not depend on the source or the layout of
 * events.
 */
@NullMarked
package io.inferspan.ebpf.spans;

import org.jspecify.annotations.NullMarked;
