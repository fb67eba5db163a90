/**
 * Decodes OTLP export requests and stored spans.
 *
 * <p>Only this package uses Protocol Buffers. It depends neither on the network nor on the meaning
 * of spans.
 */
@NullMarked
package io.inferspan.samples.desk.otlp;

import org.jspecify.annotations.NullMarked;
