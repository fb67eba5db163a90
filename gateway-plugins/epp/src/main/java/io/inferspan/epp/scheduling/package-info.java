/**
 * The order in which plugins are called, and their time limits.
 *
 * <p>Contains {@link io.inferspan.epp.scheduling.Scheduler} and its profiles. Plugins are
 * elsewhere, and only {@code tracing} opens spans.
 */
@NullMarked
package io.inferspan.epp.scheduling;

import org.jspecify.annotations.NullMarked;
