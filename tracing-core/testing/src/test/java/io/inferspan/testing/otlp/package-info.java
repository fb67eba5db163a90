/** Tests of the OTLP receiver. */
@NullMarked
package io.inferspan.testing.otlp;

import org.jspecify.annotations.NullMarked;
