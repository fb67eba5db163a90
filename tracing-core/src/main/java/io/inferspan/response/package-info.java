/**
 * Facts about an engine's response, read as it passes: first token, gaps, usage, and its end.
 *
 * <p>Bytes are read in place. Nothing here keeps or changes a body, depends on a server, or exposes
 * the text of a model.
 */
@NullMarked
package io.inferspan.response;

import org.jspecify.annotations.NullMarked;
