/**
 * Endpoint picking behind Envoy: a gRPC service of external processing as llm-d's picker offers it.
 *
 * <p>Here live the service, the course of one exchange and gRPC's frames over a Vert.x HTTP/2
 * server. The bytes of messages belong into {@code wire}, the choice of an endpoint into {@code
 * io.inferspan.epp}, spans and metrics into {@code io.inferspan.gateway}.
 */
@NullMarked
package io.inferspan.gateway.extproc;

import org.jspecify.annotations.NullMarked;
