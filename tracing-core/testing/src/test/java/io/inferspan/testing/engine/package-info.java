/** Tests of the fake engine over real sockets. */
@NullMarked
package io.inferspan.testing.engine;

import org.jspecify.annotations.NullMarked;
