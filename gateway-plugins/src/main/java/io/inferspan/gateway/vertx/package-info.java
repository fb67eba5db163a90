/**
 * The adapter to Vert.x 5, for its HTTP server and for its {@code HttpProxy}.
 *
 * <p>Here lives what knows where Vert.x has a request's headers, bytes and end. Whatever could
 * serve another server is one room up.
 */
@NullMarked
package io.inferspan.gateway.vertx;

import org.jspecify.annotations.NullMarked;
