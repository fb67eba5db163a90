/** llm-d's pickers, which choose among scored endpoints. */
@NullMarked
package io.inferspan.epp.plugins.pick;

import org.jspecify.annotations.NullMarked;
