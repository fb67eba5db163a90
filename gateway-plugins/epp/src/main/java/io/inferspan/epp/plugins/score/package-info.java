/** llm-d's scorers, which rate endpoints from 0 to 1; some keep state between requests. */
@NullMarked
package io.inferspan.epp.plugins.score;

import org.jspecify.annotations.NullMarked;
