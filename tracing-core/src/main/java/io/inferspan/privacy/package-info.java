/**
 * What may leave the process: metadata, never content.
 *
 * <p>Everything that is exported passes here, our own spans and those that other instrumentation in
 * the process makes. The rule is an allow-list of keys; nothing here looks at values to guess.
 */
@NullMarked
package io.inferspan.privacy;

import org.jspecify.annotations.NullMarked;
