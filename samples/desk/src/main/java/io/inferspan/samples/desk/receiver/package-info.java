/**
 * The OTLP server, over gRPC and HTTP.
 *
 * <p>Contains bodies, frames, compression and responses. {@link io.inferspan.samples.desk.otlp}
 * reads the messages.
 */
@NullMarked
package io.inferspan.samples.desk.receiver;

import org.jspecify.annotations.NullMarked;
