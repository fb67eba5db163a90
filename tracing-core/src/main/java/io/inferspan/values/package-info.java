/**
 * Limits values that clients choose, before they become span attributes or meter tags.
 *
 * <p>Only Inferspan's own modules use this package.
 */
@NullMarked
package io.inferspan.values;

import org.jspecify.annotations.NullMarked;
