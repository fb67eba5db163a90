/**
 * Endpoint picking for Envoy: an ext_proc gRPC service like that of llm-d's endpoint picker.
 *
 * <p>Contains the service and the state of one exchange. gRPC calls are in {@code grpc}, messages
 * in {@code wire}, the choice of an endpoint in {@code io.inferspan.epp}, spans and metrics in
 * {@code io.inferspan.gateway}.
 */
@NullMarked
package io.inferspan.extproc;

import org.jspecify.annotations.NullMarked;
