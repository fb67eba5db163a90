/**
 * Minimal gateways and an endpoint picker with tracing, each in one file to copy.
 *
 * <p>The programs are independent of each other. They do not retry, and their only settings are the
 * addresses of the engines and the port.
 */
@NullMarked
package io.inferspan.samples.embeddings;

import org.jspecify.annotations.NullMarked;
