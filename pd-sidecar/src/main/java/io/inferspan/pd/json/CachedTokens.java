package io.inferspan.pd.json;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.ByteProcessor;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The count of cached prompt tokens in an engine's response: {@code
 * usage.prompt_tokens_details.cached_tokens}.
 *
 * <p>An instance replaces the count in the decoder's event stream with the count of prefill,
 * because the decoder counts the whole prompt as cached. It holds back at most one unterminated
 * line. {@link #rewrite} takes ownership of its argument, and the caller owns the buffers that it
 * and {@link #end} return. Not thread-safe; one instance per stream.
 */
public final class CachedTokens implements AutoCloseable {
  /** The maximum length of a line to rewrite; longer lines are not changed. */
  static final int MAX_LINE_LENGTH = 1 << 20;

  private static final String USAGE = "usage";
  private static final String DETAILS = "prompt_tokens_details";
  private static final String CACHED = "cached_tokens";
  private static final int MAX_DEPTH = 1_000;

  private static final ByteBuf WORD =
      Unpooled.wrappedBuffer("\"usage\"".getBytes(StandardCharsets.US_ASCII));

  private static final int LENGTH = WORD.capacity();

  /**
   * The index of the letter in {@code "usage"} that is rarest in text and JSON. The search looks
   * for this letter first.
   */
  private static final int RARE = 4;

  private final long cachedTokens;

  /** The start of an incomplete line. */
  private @Nullable CompositeByteBuf held;

  /** Set if part of the current line, which is too long, was already sent. */
  private boolean isPassing;

  public CachedTokens(long cachedTokens) {
    this.cachedTokens = cachedTokens;
  }

  /**
   * Returns the bytes that can be sent after this chunk arrived: the chunk itself if nothing is
   * held or changed. May be empty.
   */
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
      // No limit on components, because beyond a limit Netty merges them by copying, repeatedly.
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
    int usage = findUsage(lines, start, lines.writerIndex());
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
      at = findUsage(lines, end, lines.writerIndex());
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
        ? replaced(lines, SseLines.afterData(line), end, cachedTokens)
        : null;
  }

  /** Returns the count in a response, 0 if there is none. */
  public static long of(JsonObject answer) {
    return answer.longAt(0, USAGE, DETAILS, CACHED);
  }

  /** Returns a whole response with {@code cachedTokens} as its count; null if nothing changes. */
  public static byte @Nullable [] replaced(ByteBuf answer, long cachedTokens) {
    return replaced(answer, answer.readerIndex(), answer.writerIndex(), cachedTokens);
  }

  /**
   * Returns the bytes between two positions with {@code cachedTokens} as the count. Returns null if
   * nothing changes, because the bytes are no JSON object, have no usage, or already have this
   * count.
   */
  static byte @Nullable [] replaced(ByteBuf answer, int from, int to, long cachedTokens) {
    if (findUsage(answer, from, to) < 0) {
      return null;
    }
    if (answer.hasArray()) {
      int offset = answer.arrayOffset();
      return replaced(answer.array(), offset + from, offset + to, cachedTokens);
    }
    return replaced(ByteBufUtil.getBytes(answer, from, to - from), 0, to - from, cachedTokens);
  }

  private static byte @Nullable [] replaced(byte[] json, int from, int to, long cachedTokens) {
    JsonObject answer = JsonScan.of(json, from, to, MAX_DEPTH).object();
    JsonValue usage = answer == null ? null : answer.value(USAGE);
    if (answer == null
        || usage == null
        || !usage.isObject()
        || answer.longAt(-1, USAGE, DETAILS, CACHED) == cachedTokens) {
      return null;
    }
    JsonEdit edit = answer.edit();
    edit.within(USAGE).within(DETAILS).set(CACHED, cachedTokens);
    return edit.toBytes();
  }

  /**
   * Returns the first position of {@code "usage"} in a part of a buffer, or -1. This must be fast,
   * because nearly every chunk of a stream has none.
   */
  static int findUsage(ByteBuf buffer, int from, int to) {
    int start = from;
    while (to - start >= LENGTH) {
      int rare = buffer.indexOf(start + RARE, to - (LENGTH - RARE) + 1, (byte) 'g');
      if (rare < 0) {
        return -1;
      }
      if (ByteBufUtil.equals(buffer, rare - RARE, WORD, 0, LENGTH)) {
        return rare - RARE;
      }
      start = rare + 1;
    }
    return -1;
  }
}
