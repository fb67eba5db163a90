/**
 * Builds the SDK from the {@code OTEL_*} settings.
 *
 * <p>Contains the rules for settings: defaults, corrections with a warning, and rejections. The
 * SDK's own autoconfiguration does the rest.
 */
@NullMarked
package io.inferspan.setup;

import org.jspecify.annotations.NullMarked;
