/**
 * An index of the pods that hold KV blocks, and its spans.
 *
 * <p>This package scores pods for the tokens of a prompt and records the spans. The subpackages
 * implement the steps without spans. Nothing here depends on a gateway.
 */
@NullMarked
package io.inferspan.kvcache;

import org.jspecify.annotations.NullMarked;
