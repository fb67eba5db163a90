/** Manifests and dashboard against the programs that they are of; no cluster is needed. */
@NullMarked
package io.inferspan.samples.deploy;

import org.jspecify.annotations.NullMarked;
