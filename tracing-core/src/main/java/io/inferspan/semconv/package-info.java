/**
 * Attribute keys, each once, with its type and a sentence.
 *
 * <p>Here live names and nothing else: no span is started and nothing is decided here, except which
 * of two keys a renamed GenAI attribute gets.
 */
@NullMarked
package io.inferspan.semconv;

import org.jspecify.annotations.NullMarked;
