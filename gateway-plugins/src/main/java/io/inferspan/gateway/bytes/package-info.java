/**
 * Shows bytes of Netty and Vert.x buffers to the observers of a response.
 *
 * <p>Contains the handling of a {@code ByteBuf} that both adapters share; the package is not
 * exported.
 */
@NullMarked
package io.inferspan.gateway.bytes;

import org.jspecify.annotations.NullMarked;
