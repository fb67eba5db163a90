/**
 * Endpoint picking: interfaces and values for plugins that filter, score and choose pods.
 *
 * <p>Nothing here depends on spans or an HTTP server. Spans are in {@code tracing}, the order of
 * calls is in {@code scheduling}.
 */
@NullMarked
package io.inferspan.epp;

import org.jspecify.annotations.NullMarked;
