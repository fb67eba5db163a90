/**
 * How plugins work together: in which order they are called, and for how long.
 *
 * <p>Here live {@link io.inferspan.epp.scheduling.Scheduler} and the profiles it runs. No plugin
 * lives here, and no span is opened but by {@code tracing}.
 */
@NullMarked
package io.inferspan.epp.scheduling;

import org.jspecify.annotations.NullMarked;
