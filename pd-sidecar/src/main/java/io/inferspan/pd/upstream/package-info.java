/**
 * Connections to engines: a pool per event loop, and one call at a time on each connection.
 *
 * <p>Contains HTTP/1.1 towards an engine. Nothing here depends on prefill and decode, or on the
 * client.
 */
@NullMarked
package io.inferspan.pd.upstream;

import org.jspecify.annotations.NullMarked;
