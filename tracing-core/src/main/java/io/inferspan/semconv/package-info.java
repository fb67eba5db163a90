/**
 * The attribute keys with their types and descriptions.
 *
 * <p>Contains names only, and the choice between two keys of a renamed GenAI attribute.
 */
@NullMarked
package io.inferspan.semconv;

import org.jspecify.annotations.NullMarked;
