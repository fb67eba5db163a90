/** Decoding in chunks: a request for each chunk, and one response made of theirs. */
@NullMarked
package io.inferspan.pd.chunk;

import org.jspecify.annotations.NullMarked;
