/**
 * The few messages of Envoy's external processing, between bytes and values.
 *
 * <p>Here live a reader and a writer of Protocol Buffers and the messages that an endpoint picker
 * meets; nothing here knows a socket, a span or a schedule. Fields that nobody here acts on are
 * skipped, so that a newer Envoy is understood as far as an older one.
 */
@NullMarked
package io.inferspan.gateway.extproc.wire;

import org.jspecify.annotations.NullMarked;
