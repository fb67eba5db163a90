/**
 * From {@code OTEL_*} to a running SDK.
 *
 * <p>Contains the rules for settings: defaults, corrections with a warning, and rejections. The
 * SDK's own autoconfiguration does the rest.
 */
@NullMarked
package io.inferspan.setup;

import org.jspecify.annotations.NullMarked;
