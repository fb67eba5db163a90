/** x */
@NullMarked
package io.inferspan;

import org.jspecify.annotations.NullMarked;
