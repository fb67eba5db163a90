/**
 * The hosts that a client may make the sidecar call.
 *
 * <p>Contains the lists and their updates; how a request with a target that is not listed is
 * handled is decided elsewhere.
 */
@NullMarked
package io.inferspan.pd.allow;

import org.jspecify.annotations.NullMarked;
