/** Tests of the whole sidecar over raw sockets: valid, invalid and broken HTTP. */
@NullMarked
package io.inferspan.pd.wire;

import org.jspecify.annotations.NullMarked;
