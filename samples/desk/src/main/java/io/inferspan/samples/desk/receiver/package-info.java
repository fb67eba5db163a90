/**
 * The OTLP server, over gRPC and HTTP.
 *
 * <p>This package handles bodies, frames, compression and responses; {@link
 * io.inferspan.samples.desk.otlp} decodes the messages.
 */
@NullMarked
package io.inferspan.samples.desk.receiver;

import org.jspecify.annotations.NullMarked;
