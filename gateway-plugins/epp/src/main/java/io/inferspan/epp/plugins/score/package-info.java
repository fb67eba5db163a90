/**
 * Scorers, which rate endpoints from 0 to 1.
 *
 * <p>Contains llm-d's scorers and the state they keep between requests. None opens a span.
 */
@NullMarked
package io.inferspan.epp.plugins.score;

import org.jspecify.annotations.NullMarked;
