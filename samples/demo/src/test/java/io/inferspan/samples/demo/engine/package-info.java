@NullMarked
package io.inferspan.samples.demo.engine;

import org.jspecify.annotations.NullMarked;
