/**
 * The client's side: listeners, connections, and one exchange per request.
 *
 * <p>Contains HTTP/1.1 and HTTP/2 towards clients, with backpressure, pipelining and timeouts.
 * Nothing here depends on engines.
 */
@NullMarked
package io.inferspan.pd.server;

import org.jspecify.annotations.NullMarked;
