/** The adapter to Vert.x 5, for its HTTP server and for its {@code HttpProxy}. */
@NullMarked
package io.inferspan.gateway.vertx;

import org.jspecify.annotations.NullMarked;
