/** Traces are sent to real backends, and read back by what those offer to read them. */
@NullMarked
package io.inferspan.samples.backends;

import org.jspecify.annotations.NullMarked;
