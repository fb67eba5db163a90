/** The start of runnable jars, in a class that an older Java can read. */
@NullMarked
package io.inferspan.launcher;

import org.jspecify.annotations.NullMarked;
