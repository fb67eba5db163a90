/**
 * The traces that are kept, within bounds, and the list of them.
 *
 * <p>Here lives who is kept and who has to go, and how traces are found. What a trace means is
 * asked of a {@link io.inferspan.samples.desk.store.Summariser}; no socket and no JSON is known
 * here.
 */
@NullMarked
package io.inferspan.samples.desk.store;

import org.jspecify.annotations.NullMarked;
