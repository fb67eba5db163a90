/**
 * Pickers, which choose among scored endpoints.
 *
 * <p>Contains llm-d's pickers.
 */
@NullMarked
package io.inferspan.epp.plugins.pick;

import org.jspecify.annotations.NullMarked;
