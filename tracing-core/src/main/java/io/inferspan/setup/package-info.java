/**
 * From {@code OTEL_*} to a running SDK.
 *
 * <p>Here live the rules for settings: our defaults, what is corrected with a warning and what is
 * refused. The SDK's own autoconfiguration does the rest.
 */
@NullMarked
package io.inferspan.setup;

import org.jspecify.annotations.NullMarked;
