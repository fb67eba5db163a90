/**
 * Filters, which remove endpoints that cannot serve a request.
 *
 * <p>Contains llm-d's filters.
 */
@NullMarked
package io.inferspan.epp.plugins.filter;

import org.jspecify.annotations.NullMarked;
