/**
 * Meters of the span pipeline.
 *
 * <p>Micrometer is optional at run time; only callers of {@code Telemetry.bindTo} need it.
 */
@NullMarked
package io.inferspan.metrics;

import org.jspecify.annotations.NullMarked;
