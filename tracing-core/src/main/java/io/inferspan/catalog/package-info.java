/**
 * The catalogue of all span types, their names in each naming scheme, and their attributes.
 *
 * <p>All span names are defined here; other packages start the spans.
 */
@NullMarked
package io.inferspan.catalog;

import org.jspecify.annotations.NullMarked;
