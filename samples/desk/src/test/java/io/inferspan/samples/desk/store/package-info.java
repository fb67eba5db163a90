@NullMarked
package io.inferspan.samples.desk.store;

import org.jspecify.annotations.NullMarked;
