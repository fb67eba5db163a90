/**
 * The gateway's request span, from its first header to its last byte.
 *
 * <p>Here live the door for gateways and what is known of one request on its way. It moves no byte
 * and knows no server: those that do are the adapters below. Endpoint picking is in {@code epp}.
 */
@NullMarked
package io.inferspan.gateway;

import org.jspecify.annotations.NullMarked;
