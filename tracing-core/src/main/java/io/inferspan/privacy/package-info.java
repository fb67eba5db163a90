/**
 * Restricts exported data to metadata, never content.
 *
 * <p>Everything that is exported passes through this package, our own spans and those of other
 * instrumentation in the process. The rule is an allow-list of keys; values are not inspected.
 */
@NullMarked
package io.inferspan.privacy;

import org.jspecify.annotations.NullMarked;
