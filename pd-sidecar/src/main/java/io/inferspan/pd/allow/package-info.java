/** The hosts that a client may make the sidecar call. */
@NullMarked
package io.inferspan.pd.allow;

import org.jspecify.annotations.NullMarked;
