/**
 * What both sides of the proxy use: event loops, TLS, files that change, and the memory of bodies.
 *
 * <p>Only this package uses Vert.x's internals: the data plane uses Netty directly, on Vert.x's
 * event loops.
 */
@NullMarked
package io.inferspan.pd.net;

import org.jspecify.annotations.NullMarked;
