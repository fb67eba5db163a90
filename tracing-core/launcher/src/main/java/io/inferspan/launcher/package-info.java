/** The main class of runnable jars, compiled for Java 17 to report that a program needs 25. */
@NullMarked
package io.inferspan.launcher;

import org.jspecify.annotations.NullMarked;
