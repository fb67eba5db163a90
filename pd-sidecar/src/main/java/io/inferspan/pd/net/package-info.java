/**
 * Event loops, transport and name resolution of Vert.x.
 *
 * <p>Only this package uses Vert.x's internals: the data plane uses Netty directly, on Vert.x's
 * event loops.
 */
@NullMarked
package io.inferspan.pd.net;

import org.jspecify.annotations.NullMarked;
