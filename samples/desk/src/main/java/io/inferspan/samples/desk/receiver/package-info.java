/**
 * The server that exporters send to: OTLP over gRPC and over HTTP.
 *
 * <p>Here live bodies, frames, compression and answers. What is in a message is for {@link
 * io.inferspan.samples.desk.otlp} to read.
 */
@NullMarked
package io.inferspan.samples.desk.receiver;

import org.jspecify.annotations.NullMarked;
