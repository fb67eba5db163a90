/** The main class of runnable jars, compiled for an older Java. */
@NullMarked
package io.inferspan.launcher;

import org.jspecify.annotations.NullMarked;
