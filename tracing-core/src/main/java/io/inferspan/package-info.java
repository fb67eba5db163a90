/**
 * The entry point of the tracing core: {@link io.inferspan.Telemetry} and the handle of a span,
 * {@link io.inferspan.OperationSpan}.
 *
 * <p>Contains what a request needs while it runs. Names are in {@code catalog} and {@code semconv},
 * headers in {@code propagation}, settings in {@code setup}.
 */
@NullMarked
package io.inferspan;

import org.jspecify.annotations.NullMarked;
