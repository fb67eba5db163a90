/**
 * A real OTLP trace receiver, and a certificate to run it with.
 *
 * <p>Contains the sockets and the wire format, and converts spans to {@link
 * io.inferspan.testing.SpanRecord}s.
 */
@NullMarked
package io.inferspan.testing.otlp;

import org.jspecify.annotations.NullMarked;
