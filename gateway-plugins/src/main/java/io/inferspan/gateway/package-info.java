/**
 * The gateway's request span, from its first header to its last byte.
 *
 * <p>Here live the door for gateways and the adapters to them. Endpoint picking is in {@code epp}.
 */
@NullMarked
package io.inferspan.gateway;

import org.jspecify.annotations.NullMarked;
