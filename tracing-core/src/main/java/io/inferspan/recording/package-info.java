/**
 * Records spans at lower cost than the SDK, for the SDK's processors and exporters.
 *
 * <p>Contains an implementation of OpenTelemetry's {@code Tracer} and {@code Span} that stores
 * attributes in an array and is exported without a copy. It uses the SDK's sampler and processors,
 * and does not depend on the catalogue or the environment.
 */
@NullMarked
package io.inferspan.recording;

import org.jspecify.annotations.NullMarked;
