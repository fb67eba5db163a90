/** Tests of the test kit; nothing here is for others to use. */
@NullMarked
package io.inferspan.testing.otlp;

import org.jspecify.annotations.NullMarked;
