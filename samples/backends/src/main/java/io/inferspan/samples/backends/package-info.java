/**
 * Tests of the backend configurations in {@code samples/backends}. This package is empty.
 *
 * <p>The tests send traces to real servers and read them back.
 */
@NullMarked
package io.inferspan.samples.backends;

import org.jspecify.annotations.NullMarked;
