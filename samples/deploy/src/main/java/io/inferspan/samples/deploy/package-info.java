/**
 * Manifests and a dashboard, next to this folder; there is no program here.
 *
 * <p>The tests check them against the programs.
 */
@NullMarked
package io.inferspan.samples.deploy;

import org.jspecify.annotations.NullMarked;
