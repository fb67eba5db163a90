/**
 * Server-sent events of engines, read and changed line by line while they stream.
 *
 * <p>Here lives what knows lines and events. JSON's grammar is in {@code io.inferspan.pd.json}.
 */
@NullMarked
package io.inferspan.pd.sse;

import org.jspecify.annotations.NullMarked;
