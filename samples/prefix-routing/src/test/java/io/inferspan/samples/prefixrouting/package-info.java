/** Tests of the sample. */
@NullMarked
package io.inferspan.samples.prefixrouting;

import org.jspecify.annotations.NullMarked;
