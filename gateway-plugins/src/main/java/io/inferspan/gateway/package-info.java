/**
 * Traces requests of a gateway, from the first header to the last byte.
 *
 * <p>Contains the API for gateways and the state of a request, for any server. The adapters for
 * Vert.x and Netty are in subpackages.
 */
@NullMarked
package io.inferspan.gateway;

import org.jspecify.annotations.NullMarked;
