@NullMarked
package io.inferspan.samples.desk;

import org.jspecify.annotations.NullMarked;
