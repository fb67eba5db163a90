package io.inferspan.pd.connector;

import io.inferspan.pd.json.CachedTokens;
import io.inferspan.pd.json.CachedTokensRewriter;
import io.inferspan.pd.json.SseLines;
import io.inferspan.pd.memory.HeldBodies;
import io.inferspan.pd.memory.HeldBody;
import io.inferspan.pd.relay.BodyFilter;
import io.inferspan.pd.relay.Offload;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpResponse;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Replaces the number of cached prompt tokens in decode's response by that of prefill, because the
 * decoder counts the whole prompt as cached.
 *
 * <p>An event stream is processed line by line; any other response is held until it is complete, or
 * passed unchanged if it is too long for that.
 */
final class CachedTokensFilter implements BodyFilter {
  private static final String EVENT_STREAM = "text/event-stream";

  private final long cachedTokens;
  private final long maxHeldBytes;
  private final HeldBodies bodies;
  private final Offload offload;
  private @Nullable CachedTokensRewriter lines;
  private @Nullable HeldBody whole;
  private boolean tooLong;

  private CachedTokensFilter(
      long cachedTokens, long maxHeldBytes, HeldBodies bodies, Offload offload, boolean events) {
    this.cachedTokens = cachedTokens;
    this.maxHeldBytes = maxHeldBytes;
    this.bodies = bodies;
    this.offload = offload;
    this.lines = events ? new CachedTokensRewriter(cachedTokens) : null;
  }

  /** Returns the filter for a response; null if its body cannot be read. */
  static @Nullable BodyFilter of(
      HttpResponse head, long cachedTokens, long maxHeldBytes, HeldBodies bodies, Offload offload) {
    if (head.headers().contains(HttpHeaderNames.CONTENT_ENCODING)) {
      return null;
    }
    String type = head.headers().get(HttpHeaderNames.CONTENT_TYPE, "");
    boolean events = type.contains(EVENT_STREAM);
    return new CachedTokensFilter(cachedTokens, maxHeldBytes, bodies, offload, events);
  }

  @Override
  public ByteBuf rewrite(ByteBuf content) {
    if (tooLong) {
      return content;
    }
    if (lines == null
        && whole == null
        && SseLines.isData(content, content.readerIndex(), content.writerIndex())) {
      lines = new CachedTokensRewriter(cachedTokens);
    }
    if (lines != null) {
      return lines.rewrite(content);
    }
    return hold(content);
  }

  private ByteBuf hold(ByteBuf content) {
    HeldBody held = whole == null ? bodies.open() : whole;
    boolean fits =
        (long) held.length() + content.readableBytes() <= maxHeldBytes && held.append(content);
    whole = fits ? held : null;
    tooLong = !fits;
    if (fits) {
      content.release();
      return Unpooled.EMPTY_BUFFER;
    }
    ByteBuf all = Unpooled.wrappedBuffer(held.toBuffer(), content);
    held.release();
    return all;
  }

  @Override
  public void end(Consumer<ByteBuf> next) {
    HeldBody body = whole;
    if (lines != null) {
      next.accept(lines.end());
    } else if (body == null) {
      next.accept(Unpooled.EMPTY_BUFFER);
    } else {
      offload.compute(body, () -> changed(body), changed -> end(body, changed, next));
    }
  }

  private void end(HeldBody body, @Nullable HeldBody changed, Consumer<ByteBuf> next) {
    if (whole == null) {
      // It was discarded meanwhile.
      if (changed != null) {
        changed.release();
      }
      return;
    }
    whole = null;
    HeldBody ready = changed == null ? body.retain() : changed;
    body.release();
    ByteBuf answer = ready.toBuffer();
    ready.release();
    next.accept(answer);
  }

  /**
   * Returns the response with the count; null if nothing changes, or if there is no room for it.
   */
  private @Nullable HeldBody changed(HeldBody body) {
    HeldBody changed = bodies.open();
    // Reading copies it, and changing it copies it again.
    long copies = 2L * body.length();
    ByteBuf same = body.toBuffer();
    byte[] bytes = changed.take(copies) ? CachedTokens.replaced(same, cachedTokens) : null;
    same.release();
    if (bytes != null && changed.hold(bytes)) {
      changed.giveBack(copies);
      return changed;
    }
    changed.release();
    return null;
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
