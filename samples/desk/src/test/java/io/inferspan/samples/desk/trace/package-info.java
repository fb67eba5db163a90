@NullMarked
package io.inferspan.samples.desk.trace;

import org.jspecify.annotations.NullMarked;
