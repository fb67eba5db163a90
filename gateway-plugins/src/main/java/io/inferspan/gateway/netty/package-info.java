/**
 * Handlers for gateways on Netty, between the HTTP codec and the gateway's own handlers.
 *
 * <p>They observe messages, and change only the headers of calls to engines.
 */
@NullMarked
package io.inferspan.gateway.netty;

import org.jspecify.annotations.NullMarked;
