/**
 * The entry point of the tracing core: {@link io.inferspan.Telemetry} and the handle of a span,
 * {@link io.inferspan.OperationSpan}.
 *
 * <p>This package is the API at request time. Names are defined in {@code catalog} and {@code
 * semconv}, headers are read and written in {@code propagation}, settings in {@code setup}.
 */
@NullMarked
package io.inferspan;

import org.jspecify.annotations.NullMarked;
