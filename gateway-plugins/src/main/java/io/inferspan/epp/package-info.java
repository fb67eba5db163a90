/**
 * Endpoint picking: what plugins that filter, score and choose pods are given, and what they
 * answer.
 *
 * <p>Here live the plugins' interfaces and the values that pass between them; nothing here knows a
 * span or an HTTP server. Spans are in {@code tracing}, the order of calls in {@code scheduling}.
 */
@NullMarked
package io.inferspan.epp;

import org.jspecify.annotations.NullMarked;
