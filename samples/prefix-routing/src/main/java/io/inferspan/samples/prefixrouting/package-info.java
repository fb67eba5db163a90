/**
 * Endpoint picking with the KV-cache index.
 *
 * <p>The libraries for endpoint picking and for the index do not depend on each other. This package
 * connects them, and has a tokenizer for gateways that lack one.
 */
@NullMarked
package io.inferspan.samples.prefixrouting;

import org.jspecify.annotations.NullMarked;
