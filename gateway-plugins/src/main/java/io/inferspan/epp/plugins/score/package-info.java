/**
 * Scorers: what speaks for an endpoint, from 0 to 1.
 *
 * <p>Here live llm-d's scorers and what they remember between requests. None opens a span.
 */
@NullMarked
package io.inferspan.epp.plugins.score;

import org.jspecify.annotations.NullMarked;
