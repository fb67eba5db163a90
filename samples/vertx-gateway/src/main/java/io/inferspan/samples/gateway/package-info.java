/**
 * A small LLM gateway on Vert.x: it picks an endpoint for each request, retries on another one, and
 * streams the response.
 *
 * <p>Contains what such a gateway needs in addition to the library. {@link
 * io.inferspan.samples.gateway.RequestTrace} contains all calls that trace a request.
 */
@NullMarked
package io.inferspan.samples.gateway;

import org.jspecify.annotations.NullMarked;
