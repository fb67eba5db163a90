/**
 * Observes an engine's response while it is forwarded: first token, gaps between tokens, usage,
 * errors and end.
 *
 * <p>Bytes are read in place; bodies are neither stored nor changed.
 */
@NullMarked
package io.inferspan.response;

import org.jspecify.annotations.NullMarked;
