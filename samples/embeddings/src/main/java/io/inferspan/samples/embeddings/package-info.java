/**
 * The smallest gateways that are traced, each in one file to copy.
 *
 * <p>No program here needs another one, and none does more than a gateway has to: no retries, no
 * limits, no settings beyond where to listen and where the engine is.
 */
@NullMarked
package io.inferspan.samples.embeddings;

import org.jspecify.annotations.NullMarked;
