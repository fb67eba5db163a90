/** Tests of the whole sample gateway: over real sockets, with real clients and a real sidecar. */
@NullMarked
package io.inferspan.samples.gateway;

import org.jspecify.annotations.NullMarked;
