/**
 * A JSON scanner for bodies that arrive in pieces or as a whole.
 *
 * <p>It is independent of any API: a grammar defines the places, and a sink receives their values.
 */
@NullMarked
package io.inferspan.json;

import org.jspecify.annotations.NullMarked;
