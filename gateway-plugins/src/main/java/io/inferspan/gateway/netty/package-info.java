/**
 * Gateways on Netty: handlers that stand between the HTTP codec and the gateway's own.
 *
 * <p>They watch messages pass and change none but the headers of calls to engines. Here live those
 * handlers and what they share; what a request's trace holds is in {@code io.inferspan.gateway}.
 */
@NullMarked
package io.inferspan.gateway.netty;

import org.jspecify.annotations.NullMarked;
