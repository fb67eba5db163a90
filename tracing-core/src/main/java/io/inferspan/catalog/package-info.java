/**
 * Every span, once, as data.
 *
 * <p>Here live span types and the generations of names they go by. No span is started here, and no
 * span name is written anywhere else.
 */
@NullMarked
package io.inferspan.catalog;

import org.jspecify.annotations.NullMarked;
