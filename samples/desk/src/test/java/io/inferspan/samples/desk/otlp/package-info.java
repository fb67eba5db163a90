@NullMarked
package io.inferspan.samples.desk.otlp;

import org.jspecify.annotations.NullMarked;
