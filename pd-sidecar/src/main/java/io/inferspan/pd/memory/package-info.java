/**
 * The memory of bodies in flight: one budget, and bytes that are counted while anything refers to
 * them.
 */
@NullMarked
package io.inferspan.pd.memory;

import org.jspecify.annotations.NullMarked;
