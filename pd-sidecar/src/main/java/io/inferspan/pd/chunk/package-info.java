/**
 * Decoding in chunks: what is asked for each, and how one answer is made of theirs.
 *
 * <p>Here lives the loop and its arithmetic. When a request is decoded so is decided elsewhere.
 */
@NullMarked
package io.inferspan.pd.chunk;

import org.jspecify.annotations.NullMarked;
