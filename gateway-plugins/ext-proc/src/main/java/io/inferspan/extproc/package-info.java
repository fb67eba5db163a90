/**
 * Endpoint picking behind Envoy: a gRPC service of external processing as llm-d's picker offers it.
 *
 * <p>Here live the service and the course of one exchange. Calls of gRPC belong into {@code grpc},
 * the bytes of messages into {@code wire}, the choice of an endpoint into {@code io.inferspan.epp},
 * spans and metrics into {@code io.inferspan.gateway}.
 */
@NullMarked
package io.inferspan.extproc;

import org.jspecify.annotations.NullMarked;
