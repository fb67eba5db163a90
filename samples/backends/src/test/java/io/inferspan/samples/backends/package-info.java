/** Tests that send traces to real backends and read them back through their query APIs. */
@NullMarked
package io.inferspan.samples.backends;

import org.jspecify.annotations.NullMarked;
