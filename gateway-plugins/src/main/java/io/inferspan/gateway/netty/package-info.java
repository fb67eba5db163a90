/**
 * Handlers for gateways on Netty, between the HTTP codec and the gateway's own handlers.
 *
 * <p>They observe messages and change only the headers of calls to engines. Contains those handlers
 * and what they share; the contents of a request's trace are in {@code io.inferspan.gateway}.
 */
@NullMarked
package io.inferspan.gateway.netty;

import org.jspecify.annotations.NullMarked;
