/**
 * Configurations of backends, which lie beside this folder; no program lives here.
 *
 * <p>The tests send traces to real servers.
 */
@NullMarked
package io.inferspan.samples.backends;

import org.jspecify.annotations.NullMarked;
