/**
 * Endpoint picking that asks the KV-cache index.
 *
 * <p>The two libraries do not know each other; here lives what joins them, and the tokens that a
 * gateway without a tokenizer asks with.
 */
@NullMarked
package io.inferspan.samples.prefixrouting;

import org.jspecify.annotations.NullMarked;
