/**
 * The catalogue of all span types, their names in each naming scheme, and their attributes.
 *
 * <p>All span names are defined here; no span is started here.
 */
@NullMarked
package io.inferspan.catalog;

import org.jspecify.annotations.NullMarked;
