/** The allow-list: the hosts that a client's headers may make the sidecar call. */
@NullMarked
package io.inferspan.pd.allow;

import org.jspecify.annotations.NullMarked;
