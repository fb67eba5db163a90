/** The index under events, faults and lookups for a while, compared with what engines hold. */
@NullMarked
package io.inferspan.kvcache.soak;

import org.jspecify.annotations.NullMarked;
