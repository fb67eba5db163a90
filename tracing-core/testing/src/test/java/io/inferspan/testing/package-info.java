/** Tests of the test kit. */
@NullMarked
package io.inferspan.testing;

import org.jspecify.annotations.NullMarked;
