package io.inferspan.pd.json;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Reads and replaces {@code usage.prompt_tokens_details.cached_tokens} in an engine's response. */
public final class CachedTokens {
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

  private CachedTokens() {}

  /** Returns the count in a response, 0 if there is none. */
  public static long of(JsonObject answer) {
    return answer.longAt(0, USAGE, DETAILS, CACHED);
  }

  /** Returns a whole response with another count; null if nothing changes. */
  public static byte @Nullable [] replaced(ByteBuf answer, long cachedTokens) {
    return replaced(answer, answer.readerIndex(), answer.writerIndex(), cachedTokens);
  }

  /**
   * Returns the bytes between two positions with another count; null if nothing changes: no JSON
   * object, no usage, or the same count.
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
    try {
      JsonObject answer = JsonObject.scan(json, from, to, MAX_DEPTH);
      JsonValue usage = answer.value(USAGE);
      boolean same = answer.longAt(-1, USAGE, DETAILS, CACHED) == cachedTokens;
      if (usage == null || !usage.isObject() || same) {
        return null;
      }
      JsonEdit edit = answer.edit();
      edit.within(USAGE).within(DETAILS).set(CACHED, cachedTokens);
      return edit.toBytes();
    } catch (InvalidJson _) {
      return null;
    }
  }

  /**
   * Returns the first position of {@code "usage"} in a part of a buffer, or -1. It is fast, because
   * nearly every chunk of a stream has none.
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
