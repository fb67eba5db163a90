/**
 * The meters of a gateway, according to the GenAI conventions.
 *
 * <p>Micrometer is optional at run time; it is needed only if a registry is set. Clients cannot
 * create new tag values.
 */
@NullMarked
package io.inferspan.gateway.metrics;

import org.jspecify.annotations.NullMarked;
