/**
 * Endpoint picking: plugins that filter, score and choose pods, and the spans around them.
 *
 * <p>Here live interfaces and decorators; nothing here knows an HTTP server.
 */
@NullMarked
package io.inferspan.epp;

import org.jspecify.annotations.NullMarked;
