/**
 * Tests of the manifests and the dashboard in {@code samples/deploy}. This package is empty.
 *
 * <p>The tests compare flags, variables, ports and meters with those of the programs.
 */
@NullMarked
package io.inferspan.samples.deploy;

import org.jspecify.annotations.NullMarked;
