/**
 * gRPC as an endpoint picker needs it, over a Vert.x HTTP/2 server, and its health checks.
 *
 * <p>Contains calls, their frames, and the limit on the bytes they hold. The package above
 * interprets the messages; this one is not exported.
 */
@NullMarked
package io.inferspan.extproc.grpc;

import org.jspecify.annotations.NullMarked;
