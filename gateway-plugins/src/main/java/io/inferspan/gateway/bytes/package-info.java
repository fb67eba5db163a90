/**
 * Bytes of Netty's, which Vert.x's are too, shown to whoever looks at what passes.
 *
 * <p>Here lives what the adapters of both do alike with a {@code ByteBuf}; the package is not
 * exported.
 */
@NullMarked
package io.inferspan.gateway.bytes;

import org.jspecify.annotations.NullMarked;
