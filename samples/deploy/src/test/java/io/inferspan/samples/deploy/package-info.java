/** Tests of the manifests and the dashboard against the programs; no cluster is needed. */
@NullMarked
package io.inferspan.samples.deploy;

import org.jspecify.annotations.NullMarked;
