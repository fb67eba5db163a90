/**
 * Endpoint picking with the KV-cache index.
 *
 * <p>The two libraries do not depend on each other; this package connects them, and makes tokens
 * for a gateway without a tokenizer.
 */
@NullMarked
package io.inferspan.samples.prefixrouting;

import org.jspecify.annotations.NullMarked;
