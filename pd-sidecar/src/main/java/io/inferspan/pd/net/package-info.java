/**
 * Event loops, TLS, watches of files, and the memory of bodies, for both sides of the proxy.
 *
 * <p>Only this package uses Vert.x's internals: the data plane uses Netty directly, on Vert.x's
 * event loops.
 */
@NullMarked
package io.inferspan.pd.net;

import org.jspecify.annotations.NullMarked;
