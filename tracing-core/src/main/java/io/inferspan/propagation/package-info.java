/** Converts the headers of W3C trace context and baggage to and from {@code SpanContext}. */
@NullMarked
package io.inferspan.propagation;

import org.jspecify.annotations.NullMarked;
