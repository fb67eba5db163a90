/** A gateway in Spring Boot, in one file to copy; nothing else lives here. */
@NullMarked
package io.inferspan.samples.springboot;

import org.jspecify.annotations.NullMarked;
