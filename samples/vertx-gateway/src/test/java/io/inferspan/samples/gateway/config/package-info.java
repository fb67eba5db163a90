/** The sample gateway as a whole: over real sockets, with real clients, beside a real sidecar. */
@NullMarked
package io.inferspan.samples.gateway.config;

import org.jspecify.annotations.NullMarked;
