/**
 * An index of the pods that hold KV blocks, and its spans.
 *
 * <p>Contains the path from tokens to scores and its spans. The packages below implement the steps
 * without depending on spans; nothing here depends on a gateway.
 */
@NullMarked
package io.inferspan.kvcache;

import org.jspecify.annotations.NullMarked;
