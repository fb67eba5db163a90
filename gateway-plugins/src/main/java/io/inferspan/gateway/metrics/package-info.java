/**
 * What a gateway counts, in the meters of the GenAI conventions.
 *
 * <p>Here lives what knows Micrometer. A tag has few values here, whatever clients send.
 */
@NullMarked
package io.inferspan.gateway.metrics;

import org.jspecify.annotations.NullMarked;
