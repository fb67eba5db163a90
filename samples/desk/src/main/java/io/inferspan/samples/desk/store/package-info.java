/**
 * Stores a limited number of traces, and the list of them.
 *
 * <p>Contains the store, its eviction and the search. A {@link
 * io.inferspan.samples.desk.store.Summariser} interprets traces; the package does not depend on
 * sockets or JSON.
 */
@NullMarked
package io.inferspan.samples.desk.store;

import org.jspecify.annotations.NullMarked;
