/**
 * gRPC as an endpoint picker needs it, over a Vert.x HTTP/2 server, and its health checks.
 *
 * <p>Here live calls, their frames, and the bound of what all of them hold. What a message of
 * external processing says is for the package above; this one is not exported.
 */
@NullMarked
package io.inferspan.gateway.extproc.grpc;

import org.jspecify.annotations.NullMarked;
