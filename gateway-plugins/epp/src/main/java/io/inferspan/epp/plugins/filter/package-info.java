/**
 * Filters: who cannot serve the request.
 *
 * <p>Here live llm-d's filters.
 */
@NullMarked
package io.inferspan.epp.plugins.filter;

import org.jspecify.annotations.NullMarked;
