/**
 * Restricts exported data to metadata, never content.
 *
 * <p>All exported spans pass through this package, including spans of other instrumentation. The
 * rule is an allow-list of keys; values are truncated, but not searched for content.
 */
@NullMarked
package io.inferspan.privacy;

import org.jspecify.annotations.NullMarked;
