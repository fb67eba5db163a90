/**
 * From events to spans: what belongs to one request is gathered, folded and written as children of
 * the request's span.
 *
 * <p>Here live the open requests, the folds, the clock between kernel and epoch, and the books. All
 * of it but the books runs on the ring's thread, is bounded, and allocates for spans rather than
 * for events. Where events come from, and how they are laid out, is not known here.
 */
@NullMarked
package io.inferspan.ebpf.spans;

import org.jspecify.annotations.NullMarked;
