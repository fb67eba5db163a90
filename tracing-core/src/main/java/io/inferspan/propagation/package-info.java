/**
 * W3C trace context and baggage, between headers and {@code SpanContext}.
 *
 * <p>Here lives what the W3C documents say about headers. What a header means for a span is decided
 * in {@code io.inferspan}.
 */
@NullMarked
package io.inferspan.propagation;

import org.jspecify.annotations.NullMarked;
