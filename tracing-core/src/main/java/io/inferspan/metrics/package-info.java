/**
 * Meters of the span pipeline.
 *
 * <p>Micrometer is optional at run time; these classes are loaded only by {@code
 * Telemetry.bindTo}.
 */
@NullMarked
package io.inferspan.metrics;

import org.jspecify.annotations.NullMarked;
