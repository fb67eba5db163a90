/**
 * A JSON scanner for bodies that arrive in pieces or as a whole.
 *
 * <p>It is independent of any API: a grammar selects values, and a sink receives them.
 */
@NullMarked
package io.inferspan.json;

import org.jspecify.annotations.NullMarked;
