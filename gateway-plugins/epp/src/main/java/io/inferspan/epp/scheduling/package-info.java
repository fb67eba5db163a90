/**
 * Calls plugins in order and within a time limit: {@link io.inferspan.epp.scheduling.Scheduler} and
 * its profiles.
 */
@NullMarked
package io.inferspan.epp.scheduling;

import org.jspecify.annotations.NullMarked;
