/**
 * The bytes of OTLP: what of an export request is kept, and how a kept span is read later.
 *
 * <p>Here lives all that knows Protocol Buffers. Nothing here knows a socket, a trace or the
 * meaning of a span.
 */
@NullMarked
package io.inferspan.samples.desk.otlp;

import org.jspecify.annotations.NullMarked;
