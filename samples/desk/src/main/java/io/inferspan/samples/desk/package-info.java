/**
 * The trace desk as a program: its settings, and how its parts are joined.
 *
 * <p>Spans come in through {@link io.inferspan.samples.desk.receiver}, are kept by {@link
 * io.inferspan.samples.desk.store}, understood by {@link io.inferspan.samples.desk.trace} and shown
 * by {@link io.inferspan.samples.desk.web}.
 */
@NullMarked
package io.inferspan.samples.desk;

import org.jspecify.annotations.NullMarked;
