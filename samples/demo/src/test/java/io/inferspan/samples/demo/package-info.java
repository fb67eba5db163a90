@NullMarked
package io.inferspan.samples.demo;

import org.jspecify.annotations.NullMarked;
