/** Access to the bytes of a Netty {@code ByteBuf}, shared by the adapters to Netty and Vert.x. */
@NullMarked
package io.inferspan.gateway.bytes;

import org.jspecify.annotations.NullMarked;
