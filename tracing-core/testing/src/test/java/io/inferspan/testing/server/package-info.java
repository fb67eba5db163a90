/** Tests of the log that the test kit's servers share. */
@NullMarked
package io.inferspan.testing.server;

import org.jspecify.annotations.NullMarked;
