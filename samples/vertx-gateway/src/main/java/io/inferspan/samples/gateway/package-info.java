/**
 * A small LLM gateway on Vert.x: it picks an endpoint for each request, tries another when that
 * fails, and streams the answer.
 *
 * <p>Here lives what such a gateway needs besides the library, and what of the library it calls.
 * {@link io.inferspan.samples.gateway.RequestTrace} holds all calls that trace a request.
 */
@NullMarked
package io.inferspan.samples.gateway;

import org.jspecify.annotations.NullMarked;
