/**
 * Decoding in chunks: a request for each chunk, and one response made of theirs.
 *
 * <p>Contains the loop and its arithmetic. Which requests are decoded in chunks is decided
 * elsewhere.
 */
@NullMarked
package io.inferspan.pd.chunk;

import org.jspecify.annotations.NullMarked;
