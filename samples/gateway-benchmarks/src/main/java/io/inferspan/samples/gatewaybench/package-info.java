/** The gateways under test. The measuring code is in {@code harness}. */
@NullMarked
package io.inferspan.samples.gatewaybench;

import org.jspecify.annotations.NullMarked;
