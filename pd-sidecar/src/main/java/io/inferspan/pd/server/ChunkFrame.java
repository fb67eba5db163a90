package io.inferspan.pd.server;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.DefaultHttpContent;
import org.jspecify.annotations.Nullable;

/**
 * Puts a small piece of a chunked body and its framing into one buffer.
 *
 * <p>The codec would write size, piece and line end as three buffers, which costs more than copying
 * a piece of this size.
 */
final class ChunkFrame {
  /** The maximum size of a piece; larger pieces go through the codec. */
  static final int MAX_BYTES = 4096;

  private static final int MAX_SIZE_DIGITS = 4;
  private static final int LINE_ENDS_BYTES = 4;
  private static final int LINE_END = '\r' << 8 | '\n';
  private static final int DIGIT_BITS = 4;
  private static final int DIGIT_MASK = 0xf;

  private ChunkFrame() {}

  /** Writes a piece of a chunked body, bypassing the encoder if there is one. */
  static void write(
      ByteBuf piece, ChannelHandlerContext context, @Nullable ChannelHandlerContext encoder) {
    if (encoder == null || !piece.isReadable()) {
      context.write(new DefaultHttpContent(piece), context.voidPromise());
    } else {
      encoder.write(around(piece, encoder.alloc()), encoder.voidPromise());
    }
  }

  /**
   * Returns a copy of {@code piece}, which must not be empty, with its framing; releases the
   * original.
   */
  private static ByteBuf around(ByteBuf piece, ByteBufAllocator allocator) {
    int size = piece.readableBytes();
    ByteBuf framed = allocator.directBuffer(size + MAX_SIZE_DIGITS + LINE_ENDS_BYTES);
    int shift = (Integer.SIZE - 1 - Integer.numberOfLeadingZeros(size)) / DIGIT_BITS * DIGIT_BITS;
    for (; shift >= 0; shift -= DIGIT_BITS) {
      framed.writeByte(Character.forDigit(size >>> shift & DIGIT_MASK, 1 << DIGIT_BITS));
    }
    framed.writeShort(LINE_END).writeBytes(piece).writeShort(LINE_END);
    piece.release();
    return framed;
  }
}
