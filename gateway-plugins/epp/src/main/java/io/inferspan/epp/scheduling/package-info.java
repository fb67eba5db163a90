/** Calls the plugins of profiles: {@link io.inferspan.epp.scheduling.Scheduler}. */
@NullMarked
package io.inferspan.epp.scheduling;

import org.jspecify.annotations.NullMarked;
