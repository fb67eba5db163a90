/**
 * Spans recorded at a fraction of the SDK's price, for the SDK's own processors and exporters.
 *
 * <p>Here lives an implementation of OpenTelemetry's {@code Tracer} and {@code Span} that keeps
 * attributes flat and is its own exported form. It asks the SDK's sampler and feeds the SDK's
 * processors; it knows neither the catalogue nor the environment.
 */
@NullMarked
package io.inferspan.recording;

import org.jspecify.annotations.NullMarked;
