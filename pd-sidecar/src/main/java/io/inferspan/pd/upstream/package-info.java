/**
 * Connections to engines: a pool per event loop, and one call at a time on each connection.
 *
 * <p>Here lives what speaks HTTP/1.1 to an engine. It knows nothing of prefill and decode, and
 * nothing of the client.
 */
@NullMarked
package io.inferspan.pd.upstream;

import org.jspecify.annotations.NullMarked;
