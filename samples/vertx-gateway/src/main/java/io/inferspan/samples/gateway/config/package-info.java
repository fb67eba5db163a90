/** The gateway's configuration, from flags, environment variables or an embedding program. */
@NullMarked
package io.inferspan.samples.gateway.config;

import org.jspecify.annotations.NullMarked;
