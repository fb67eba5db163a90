/**
 * A real OTLP trace receiver, and a certificate to run it with.
 *
 * <p>Here live sockets and the wire format; what arrives becomes {@link
 * io.inferspan.testing.SpanRecord}s.
 */
@NullMarked
package io.inferspan.testing.otlp;

import org.jspecify.annotations.NullMarked;
