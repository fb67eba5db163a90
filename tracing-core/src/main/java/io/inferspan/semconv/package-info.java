/**
 * Attribute keys with their types and descriptions, and the choice between the two keys of a
 * renamed GenAI attribute.
 */
@NullMarked
package io.inferspan.semconv;

import org.jspecify.annotations.NullMarked;
