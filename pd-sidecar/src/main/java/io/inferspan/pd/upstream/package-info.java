/**
 * HTTP/1.1 to engines: a connection pool per event loop, and one call at a time on a connection;
 * the headers and the responses that are passed on.
 */
@NullMarked
package io.inferspan.pd.upstream;

import org.jspecify.annotations.NullMarked;
