/** A long run under faults, and what must be back where it was afterwards. */
@NullMarked
package io.inferspan.pd.soak;

import org.jspecify.annotations.NullMarked;
