/**
 * The telemetry's own meters.
 *
 * <p>Only this package depends on Micrometer, which is optional at run time.
 */
@NullMarked
package io.inferspan.metrics;

import org.jspecify.annotations.NullMarked;
