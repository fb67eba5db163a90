/**
 * Bidirectional gRPC calls over a Vert.x HTTP/2 server, with a limit on held bytes, and health
 * checks.
 */
@NullMarked
package io.inferspan.extproc.grpc;

import org.jspecify.annotations.NullMarked;
