/**
 * Encodes a request's images, audio and videos on other pods.
 *
 * <p>Contains what all encoder connectors share; nothing here depends on KV blocks.
 */
@NullMarked
package io.inferspan.pd.encode;

import org.jspecify.annotations.NullMarked;
