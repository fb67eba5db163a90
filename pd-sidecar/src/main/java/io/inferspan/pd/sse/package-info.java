/**
 * Reads and changes engines' server-sent events line by line while they are streamed.
 *
 * <p>Contains the handling of lines and events; JSON is handled in {@code io.inferspan.pd.json}.
 */
@NullMarked
package io.inferspan.pd.sse;

import org.jspecify.annotations.NullMarked;
