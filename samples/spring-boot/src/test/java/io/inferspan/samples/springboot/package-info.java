/** Tests that start the gateway and send requests through it. */
@NullMarked
package io.inferspan.samples.springboot;

import org.jspecify.annotations.NullMarked;
