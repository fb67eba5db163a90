/**
 * Which pod holds which KV blocks, and the spans of asking.
 *
 * <p>Here live the way from tokens to scores and the spans on it. How it is done is in the rooms
 * below, which know no span; nothing here knows a gateway.
 */
@NullMarked
package io.inferspan.kvcache;

import org.jspecify.annotations.NullMarked;
