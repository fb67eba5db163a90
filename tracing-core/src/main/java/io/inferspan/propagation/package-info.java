/**
 * W3C trace context and baggage, between headers and {@code SpanContext}.
 *
 * <p>Implements the W3C documents on headers. {@code io.inferspan} decides what a header means for
 * a span.
 */
@NullMarked
package io.inferspan.propagation;

import org.jspecify.annotations.NullMarked;
