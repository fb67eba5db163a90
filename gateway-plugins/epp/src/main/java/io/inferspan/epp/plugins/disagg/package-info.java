/**
 * Runs prefill, decode and encode on different pods: the decision, and the headers for the proxy.
 *
 * <p>Contains llm-d's profile handlers, their deciders and the plugin that sets routing headers.
 */
@NullMarked
package io.inferspan.epp.plugins.disagg;

import org.jspecify.annotations.NullMarked;
