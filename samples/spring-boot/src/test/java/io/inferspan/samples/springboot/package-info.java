/** The gateway is started as it is, and one request is sent through it. */
@NullMarked
package io.inferspan.samples.springboot;

import org.jspecify.annotations.NullMarked;
