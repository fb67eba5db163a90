/**
 * Pickers: who gets the request, once all are scored.
 *
 * <p>Here live llm-d's pickers.
 */
@NullMarked
package io.inferspan.epp.plugins.pick;

import org.jspecify.annotations.NullMarked;
