/** x */
@NullMarked
package io.inferspan.testing;

import org.jspecify.annotations.NullMarked;
