/** The memory of bodies in flight: one budget, counted while anything refers to the bytes. */
@NullMarked
package io.inferspan.pd.memory;

import org.jspecify.annotations.NullMarked;
