/**
 * Traces requests of a gateway, from the first header to the last byte.
 *
 * <p>Contains the API for gateways and the state of a request, independent of a server. Adapters to
 * servers are in the packages below, endpoint picking is in {@code epp}.
 */
@NullMarked
package io.inferspan.gateway;

import org.jspecify.annotations.NullMarked;
