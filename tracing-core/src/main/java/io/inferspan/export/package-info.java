/** The counts of exported and lost spans. */
@NullMarked
package io.inferspan.export;

import org.jspecify.annotations.NullMarked;
