/** The gateways that are put under test, and nothing of what measures them. */
@NullMarked
package io.inferspan.samples.gatewaybench;

import org.jspecify.annotations.NullMarked;
