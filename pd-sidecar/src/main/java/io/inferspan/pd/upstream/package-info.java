/**
 * Calls to engines over HTTP/1.1, one at a time on a connection, with a connection pool per event
 * loop. Also contains the forwarded headers and the engines' responses.
 */
@NullMarked
package io.inferspan.pd.upstream;

import org.jspecify.annotations.NullMarked;
