package io.inferspan.pd.server;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;

/**
 * A small piece of a chunked body with its frame around it, in one buffer.
 *
 * <p>The codec would write size, piece and line end as three, which costs more than to copy a piece
 * of this size.
 */
final class ChunkFrame {
  /** Larger pieces are better left to the codec. */
  static final int MAX_BYTES = 4096;

  private static final int MAX_SIZE_DIGITS = 4;
  private static final int LINE_ENDS_BYTES = 4;
  private static final int LINE_END = '\r' << 8 | '\n';
  private static final int DIGIT_BITS = 4;
  private static final int DIGIT_MASK = 0xf;

  private ChunkFrame() {}

  /** Copies {@code piece}, which must not be empty, and releases it. */
  static ByteBuf around(ByteBuf piece, ByteBufAllocator allocator) {
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
