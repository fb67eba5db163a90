/**
 * Forms of text: how a Go program, a size and a flat YAML mapping are written down.
 *
 * <p>Here lives what turns a text into a plain value and knows no setting; names, defaults and
 * rules live in the room above.
 */
@NullMarked
package io.inferspan.pd.config.text;

import org.jspecify.annotations.NullMarked;
