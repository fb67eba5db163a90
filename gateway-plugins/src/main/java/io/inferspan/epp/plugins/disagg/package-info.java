/**
 * Prefill, decode and encode on different pods: whether, and how the proxy is told.
 *
 * <p>Here live llm-d's profile handlers, their deciders and the plugin that sets routing headers.
 */
@NullMarked
package io.inferspan.epp.plugins.disagg;

import org.jspecify.annotations.NullMarked;
