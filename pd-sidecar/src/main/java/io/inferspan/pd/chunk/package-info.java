/**
 * Decoding in chunks: the request for each, and one answer made of theirs.
 *
 * <p>Here lives the loop and its arithmetic. When a request is decoded so is decided elsewhere.
 */
@NullMarked
package io.inferspan.pd.chunk;

import org.jspecify.annotations.NullMarked;
