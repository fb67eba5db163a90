/**
 * Which hosts a client may have the sidecar call.
 *
 * <p>Here live the lists and what keeps them current; what happens to a request whose target is not
 * on the list is decided elsewhere.
 */
@NullMarked
package io.inferspan.pd.allow;

import org.jspecify.annotations.NullMarked;
