/** The demo, run as a whole. */
@NullMarked
package io.inferspan.samples.quickstart;

import org.jspecify.annotations.NullMarked;
