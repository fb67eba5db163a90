package io.inferspan.pd.connector;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.inferspan.pd.relay.BodyFilter;
import io.inferspan.pd.sse.CachedTokens;
import io.inferspan.pd.sse.CachedTokensRewriter;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpResponse;
import org.jspecify.annotations.Nullable;

/**
 * Tells the client how many prompt tokens prefill found cached, which decode cannot know.
 *
 * <p>An event stream passes line by line; any other answer is held until it is complete, or passes
 * unchanged where it is too long for that.
 */
final class CachedTokensFilter implements BodyFilter {
  private static final String EVENT_STREAM = "text/event-stream";
  private static final byte[] EVENT = "data:".getBytes(US_ASCII);

  private final long cachedTokens;
  private final long mostHeldBytes;
  private @Nullable CachedTokensRewriter lines;
  private @Nullable CompositeByteBuf whole;
  private boolean tooLong;

  private CachedTokensFilter(long cachedTokens, long mostHeldBytes, boolean events) {
    this.cachedTokens = cachedTokens;
    this.mostHeldBytes = mostHeldBytes;
    this.lines = events ? new CachedTokensRewriter(cachedTokens) : null;
  }

  /** The filter for an answer; null where its body cannot be read. */
  static @Nullable BodyFilter of(HttpResponse head, long cachedTokens, long mostHeldBytes) {
    if (head.headers().contains(HttpHeaderNames.CONTENT_ENCODING)) {
      return null;
    }
    String type = head.headers().get(HttpHeaderNames.CONTENT_TYPE, "");
    return new CachedTokensFilter(cachedTokens, mostHeldBytes, type.contains(EVENT_STREAM));
  }

  @Override
  public ByteBuf rewrite(ByteBuf content) {
    if (tooLong) {
      return content;
    }
    if (lines == null && whole == null && startsAnEvent(content)) {
      lines = new CachedTokensRewriter(cachedTokens);
    }
    if (lines != null) {
      return lines.rewrite(content);
    }
    return hold(content);
  }

  private ByteBuf hold(ByteBuf content) {
    CompositeByteBuf held =
        whole == null ? content.alloc().compositeBuffer(Integer.MAX_VALUE) : whole;
    held.addFlattenedComponents(true, content);
    tooLong = held.readableBytes() > mostHeldBytes;
    whole = tooLong ? null : held;
    return tooLong ? held : Unpooled.EMPTY_BUFFER;
  }

  private static boolean startsAnEvent(ByteBuf content) {
    int start = content.readerIndex();
    boolean same = content.readableBytes() >= EVENT.length;
    for (int i = 0; same && i < EVENT.length; i++) {
      same = content.getByte(start + i) == EVENT[i];
    }
    return same;
  }

  @Override
  public ByteBuf end() {
    if (lines != null) {
      return lines.end();
    }
    CompositeByteBuf body = whole;
    whole = null;
    return body == null ? Unpooled.EMPTY_BUFFER : CachedTokens.rewriteBody(body, cachedTokens);
  }

  @Override
  public void discard() {
    if (lines != null) {
      lines.close();
    }
    if (whole != null) {
      whole.release();
      whole = null;
    }
  }
}
