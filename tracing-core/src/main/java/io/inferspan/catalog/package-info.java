/**
 * The catalogue of all spans, as data.
 *
 * <p>Contains span types and their naming schemes. No span is started here, and no span name is
 * defined anywhere else.
 */
@NullMarked
package io.inferspan.catalog;

import org.jspecify.annotations.NullMarked;
