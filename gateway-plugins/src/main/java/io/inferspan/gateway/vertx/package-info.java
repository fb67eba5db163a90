/**
 * The adapter to Vert.x 5, for its HTTP server and for its {@code HttpProxy}.
 *
 * <p>Contains what depends on Vert.x's headers, bytes and events. Code that is independent of the
 * server is in the parent package.
 */
@NullMarked
package io.inferspan.gateway.vertx;

import org.jspecify.annotations.NullMarked;
