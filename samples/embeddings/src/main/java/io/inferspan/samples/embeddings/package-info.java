/**
 * Minimal gateways with tracing, each in one file to copy.
 *
 * <p>The programs are independent of each other. They have no retries, no limits, and no settings
 * besides the address of the engine and the port.
 */
@NullMarked
package io.inferspan.samples.embeddings;

import org.jspecify.annotations.NullMarked;
