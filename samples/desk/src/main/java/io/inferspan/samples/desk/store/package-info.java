/**
 * Stores a limited number of traces and their summaries.
 *
 * <p>This package contains storage, eviction and search. A {@link
 * io.inferspan.samples.desk.store.Summariser} interprets the traces.
 */
@NullMarked
package io.inferspan.samples.desk.store;

import org.jspecify.annotations.NullMarked;
