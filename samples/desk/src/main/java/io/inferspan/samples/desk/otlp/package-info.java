/**
 * Reads OTLP export requests, and the spans that are stored from them.
 *
 * <p>Only this package uses Protocol Buffers. It does not depend on sockets, traces or the meaning
 * of spans.
 */
@NullMarked
package io.inferspan.samples.desk.otlp;

import org.jspecify.annotations.NullMarked;
