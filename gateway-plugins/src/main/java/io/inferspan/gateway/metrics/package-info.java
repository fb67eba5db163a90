/**
 * The meters of a gateway, according to the GenAI conventions.
 *
 * <p>Only this package depends on Micrometer. Clients cannot create new tag values.
 */
@NullMarked
package io.inferspan.gateway.metrics;

import org.jspecify.annotations.NullMarked;
