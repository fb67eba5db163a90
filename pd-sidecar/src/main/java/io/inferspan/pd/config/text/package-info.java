/**
 * Parsers for text formats: the values of Go's flags, sizes and hosts.
 *
 * <p>Contains conversions of text to plain values. Settings, with their names, defaults and rules,
 * are in the parent package.
 */
@NullMarked
package io.inferspan.pd.config.text;

import org.jspecify.annotations.NullMarked;
