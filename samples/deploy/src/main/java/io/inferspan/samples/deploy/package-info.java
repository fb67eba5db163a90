/**
 * Manifests and a dashboard, which lie beside this folder; no program lives here.
 *
 * <p>The tests keep them true.
 */
@NullMarked
package io.inferspan.samples.deploy;

import org.jspecify.annotations.NullMarked;
