/**
 * Configurations of backends, next to this folder; there is no program here.
 *
 * <p>The tests send traces to real servers.
 */
@NullMarked
package io.inferspan.samples.backends;

import org.jspecify.annotations.NullMarked;
