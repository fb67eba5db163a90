/** A gateway in Spring Boot, in one file to copy. */
@NullMarked
package io.inferspan.samples.springboot;

import org.jspecify.annotations.NullMarked;
