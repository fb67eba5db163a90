/**
 * Endpoint picking that asks the KV-cache index.
 *
 * <p>The two libraries do not know each other; here lives what joins them.
 */
@NullMarked
package io.inferspan.samples.prefixrouting;

import org.jspecify.annotations.NullMarked;
