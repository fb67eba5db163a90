/**
 * Which pod holds which KV blocks, and the spans of asking.
 *
 * <p>Here live block keys, the index and its events; nothing here knows a gateway.
 */
@NullMarked
package io.inferspan.kvcache;

import org.jspecify.annotations.NullMarked;
