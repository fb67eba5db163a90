/**
 * The gateway's request span, from its first header to its last byte.
 *
 * <p>Contains the API for gateways and the state of one request. Nothing here moves bytes or
 * depends on a server: the adapters in the packages below do. Endpoint picking is in {@code epp}.
 */
@NullMarked
package io.inferspan.gateway;

import org.jspecify.annotations.NullMarked;
