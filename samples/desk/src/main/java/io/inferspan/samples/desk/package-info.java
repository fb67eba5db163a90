/**
 * The trace desk's main program and its settings.
 *
 * <p>{@link io.inferspan.samples.desk.receiver} receives spans, {@link
 * io.inferspan.samples.desk.store} stores them, {@link io.inferspan.samples.desk.trace} analyses
 * them, and {@link io.inferspan.samples.desk.web} shows them.
 */
@NullMarked
package io.inferspan.samples.desk;

import org.jspecify.annotations.NullMarked;
