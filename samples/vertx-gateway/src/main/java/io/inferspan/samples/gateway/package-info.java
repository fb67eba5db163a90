/**
 * A small LLM gateway on Vert.x: it picks an endpoint for each request, retries on another one, and
 * streams the response.
 *
 * <p>{@link io.inferspan.samples.gateway.RequestTrace} shows how a request is traced.
 */
@NullMarked
package io.inferspan.samples.gateway;

import org.jspecify.annotations.NullMarked;
