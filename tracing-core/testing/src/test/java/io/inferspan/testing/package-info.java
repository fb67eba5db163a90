/** Tests of the test kit; nothing here is for others to use. */
@NullMarked
package io.inferspan.testing;

import org.jspecify.annotations.NullMarked;
