/**
 * The client's side: listeners, connections, and one exchange per request.
 *
 * <p>Here lives what speaks HTTP/1.1 and HTTP/2 to clients, with backpressure, pipelining and
 * time-outs. It knows nothing of engines.
 */
@NullMarked
package io.inferspan.pd.server;

import org.jspecify.annotations.NullMarked;
