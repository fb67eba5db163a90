/**
 * Endpoint picking: interfaces and values for plugins that filter, score and choose pods.
 *
 * <p>Nothing here starts spans or depends on an HTTP server. Package {@code scheduling} calls the
 * plugins, and {@code tracing} adds their spans.
 */
@NullMarked
package io.inferspan.epp;

import org.jspecify.annotations.NullMarked;
