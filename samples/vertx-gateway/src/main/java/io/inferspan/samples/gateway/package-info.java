/**
 * A small LLM gateway on Vert.x: it picks an endpoint for each request, retries on another one, and
 * streams the response.
 *
 * <p>{@link io.inferspan.samples.gateway.RequestTrace} contains all calls of the tracing library.
 */
@NullMarked
package io.inferspan.samples.gateway;

import org.jspecify.annotations.NullMarked;
