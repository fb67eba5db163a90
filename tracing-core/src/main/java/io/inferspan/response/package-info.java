/**
 * What an engine's response tells while it passes: first token, gaps, usage, how it ended.
 *
 * <p>Here lives what reads response bytes where they are. Nothing here keeps a body, changes one,
 * knows a server, or says a word of what a model wrote.
 */
@NullMarked
package io.inferspan.response;

import org.jspecify.annotations.NullMarked;
