/**
 * Values that clients choose, bounded: for attributes of spans, and for tags of meters.
 *
 * <p>Instrumentations use them; a gateway does not need them.
 */
@NullMarked
package io.inferspan.values;

import org.jspecify.annotations.NullMarked;
