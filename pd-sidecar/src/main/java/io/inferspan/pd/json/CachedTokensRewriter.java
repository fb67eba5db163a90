package io.inferspan.pd.json;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.ByteProcessor;
import org.jspecify.annotations.Nullable;

/**
 * Replaces the count of cached tokens in the decoder's event stream by that of prefill, because the
 * decoder counts the whole prompt as cached.
 *
 * <p>Holds back at most one unterminated line. Takes ownership of its arguments; the caller owns
 * the returned buffers. If nothing changes, it returns its argument. Not thread-safe; one instance
 * per stream.
 */
public final class CachedTokensRewriter implements AutoCloseable {
  /** A longer line passes untouched. */
  static final int MAX_LINE_LENGTH = 1 << 20;

  private final long cachedTokens;

  /** The start of an incomplete line. */
  private @Nullable CompositeByteBuf held;

  /** Set if part of the current line, which is too long, was already sent. */
  private boolean isPassing;

  public CachedTokensRewriter(long cachedTokens) {
    this.cachedTokens = cachedTokens;
  }

  /** Returns what can be sent after this chunk; may be empty. */
  public ByteBuf rewrite(ByteBuf chunk) {
    int lastLineFeed = chunk.forEachByteDesc(ByteProcessor.FIND_LF);
    if (lastLineFeed < 0) {
      return hold(chunk);
    }
    if (lastLineFeed == chunk.writerIndex() - 1) {
      return rewriteLines(afterHeld(chunk));
    }
    ByteBuf lines = chunk.readRetainedSlice(lastLineFeed + 1 - chunk.readerIndex());
    ByteBuf ready = rewriteLines(afterHeld(lines));
    ByteBuf tooLong = hold(chunk);
    return tooLong.isReadable() ? Unpooled.wrappedBuffer(ready, tooLong) : ready;
  }

  /** Returns the held bytes at the end of the stream. */
  public ByteBuf end() {
    ByteBuf rest = held == null ? Unpooled.EMPTY_BUFFER : held;
    held = null;
    return rest;
  }

  /** Drops the held bytes. */
  @Override
  public void close() {
    end().release();
  }

  private ByteBuf hold(ByteBuf part) {
    if (isPassing || !part.isReadable()) {
      return part;
    }
    if (held == null) {
      // Without a limit on components: beyond it they would be copied together, again and again.
      held = part.alloc().compositeBuffer(Integer.MAX_VALUE);
    }
    held.addFlattenedComponents(true, part);
    isPassing = held.readableBytes() > MAX_LINE_LENGTH;
    return isPassing ? end() : Unpooled.EMPTY_BUFFER;
  }

  private ByteBuf afterHeld(ByteBuf lines) {
    CompositeByteBuf line = held;
    held = null;
    return line == null ? lines : line.addFlattenedComponents(true, lines);
  }

  private ByteBuf rewriteLines(ByteBuf lines) {
    int start = lines.readerIndex();
    if (isPassing) {
      start = SseLines.endOfLine(lines, start);
      isPassing = false;
    }
    int usage = CachedTokens.findUsage(lines, start, lines.writerIndex());
    return usage < 0 ? lines : rewriteLines(lines, start, usage);
  }

  /**
   * Rewrites the buffer's lines from {@code start} on; the first {@code "usage"} is at {@code
   * firstUsage}.
   */
  private ByteBuf rewriteLines(ByteBuf lines, int start, int firstUsage) {
    ByteBuf out = null;
    int copied = lines.readerIndex();
    for (int at = firstUsage; at >= 0; ) {
      int line = Math.max(start, lines.indexOf(at, start, (byte) '\n') + 1);
      int end = SseLines.endOfLine(lines, at);
      byte[] data = replacedData(lines, line, end);
      if (data != null) {
        out = out == null ? lines.alloc().buffer(lines.readableBytes() + 64) : out;
        out.writeBytes(lines, copied, SseLines.afterData(line) - copied).writeBytes(data);
        copied = end;
      }
      at = CachedTokens.findUsage(lines, end, lines.writerIndex());
    }
    if (out == null) {
      return lines;
    }
    out.writeBytes(lines, copied, lines.writerIndex() - copied);
    lines.release();
    return out;
  }

  private byte @Nullable [] replacedData(ByteBuf lines, int line, int end) {
    return end - line <= MAX_LINE_LENGTH && SseLines.isData(lines, line, end)
        ? CachedTokens.replaced(lines, SseLines.afterData(line), end, cachedTokens)
        : null;
  }
}
