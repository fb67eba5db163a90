package io.inferspan.pd.request;

import io.inferspan.pd.config.Settings;
import io.inferspan.pd.json.CachedTokens;
import io.inferspan.pd.json.SseLines;
import io.inferspan.pd.net.HeldBody;
import io.inferspan.pd.server.ClientExchange;
import io.inferspan.pd.telemetry.Api;
import io.inferspan.response.ResponseTap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponse;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Sends a response to the client: corrects, observes and flushes it.
 *
 * <p>After a prefill, the prefill's count of cached prompt tokens replaces that of decode, because
 * the decoder counts the whole prompt as cached. An event stream is corrected line by line; any
 * other response is held until it is complete, or passed unchanged if it is too long for that.
 *
 * <p>Small pieces that arrived in one read are sent at once, in one write. Only pieces that follow
 * each other within {@link #BURST_NANOS}, far faster than tokens, are batched for this time,
 * because a burst would otherwise cost a system call per piece. A slow client pauses reading, so
 * that little is buffered.
 */
public final class ClientAnswer {
  private static final String EVENT_STREAM = "text/event-stream";
  private static final int FIRST_ERROR_STATUS = 400;
  private static final int MAX_UNFLUSHED_BYTES = 64 * 1024;
  private static final long BURST_NANOS = 150_000;

  private final PdRequest request;
  private final ClientExchange exchange;
  private Consumer<Boolean> reading = _ -> {};

  /** The count that replaces the decoder's; null if the response passes unchanged. */
  private @Nullable Long cachedTokens;

  private @Nullable CachedTokens lines;
  private @Nullable HeldBody whole;
  private @Nullable ResponseTap tap;
  private boolean flushDue;
  private int unflushedBytes;
  private int status;
  private long flushedNanos = System.nanoTime() - BURST_NANOS;

  /** Creates a response that has not begun. */
  ClientAnswer(PdRequest request, ClientExchange exchange) {
    this.request = request;
    this.exchange = exchange;
  }

  /**
   * Begins the response.
   *
   * @param prefilled the cached tokens that prefill counted; null for no correction
   * @param flow stops and resumes the source of the response
   */
  public void begin(HttpResponse head, @Nullable Long prefilled, Consumer<Boolean> flow) {
    status = head.status().code();
    reading = flow;
    HttpHeaders headers = head.headers();
    if (request.api() != Api.PASSTHROUGH && status < FIRST_ERROR_STATUS) {
      tap =
          ResponseTap.forHeaders(
              headers.get(HttpHeaderNames.CONTENT_TYPE),
              headers.get(HttpHeaderNames.CONTENT_ENCODING));
    }
    if (prefilled != null && !headers.contains(HttpHeaderNames.CONTENT_ENCODING)) {
      cachedTokens = prefilled;
      headers.remove(HttpHeaderNames.CONTENT_LENGTH);
      if (headers.get(HttpHeaderNames.CONTENT_TYPE, "").contains(EVENT_STREAM)) {
        lines = new CachedTokens(prefilled);
      }
    }
    exchange.head(head);
  }

  /** Returns its status; 0 if it has not begun. */
  public int status() {
    return status;
  }

  /** Writes a piece of the body and takes ownership of it. */
  public void write(ByteBuf content) {
    send(cachedTokens == null ? content : corrected(content, cachedTokens));
  }

  /** Returns the bytes that can be sent now, which may be empty. */
  private ByteBuf corrected(ByteBuf content, long count) {
    if (lines == null
        && whole == null
        && SseLines.isData(content, content.readerIndex(), content.writerIndex())) {
      lines = new CachedTokens(count);
    }
    return lines == null ? hold(content) : lines.rewrite(content);
  }

  private ByteBuf hold(ByteBuf content) {
    HeldBody held = whole == null ? request.parts().heldBodies().open() : whole;
    long length = (long) held.length() + content.readableBytes();
    if (length <= request.config().get(Settings.BODY_LIMIT) && held.append(content)) {
      whole = held;
      content.release();
      return Unpooled.EMPTY_BUFFER;
    }
    whole = null;
    cachedTokens = null;
    ByteBuf all = Unpooled.wrappedBuffer(held.toBuffer(), content);
    held.release();
    return all;
  }

  private void send(ByteBuf next) {
    if (!next.isReadable()) {
      next.release();
      return;
    }
    see(next);
    unflushedBytes += next.readableBytes();
    exchange.write(next);
  }

  private void see(ByteBuf content) {
    ResponseTap watching = tap;
    if (watching == null) {
      return;
    }
    boolean waiting = !watching.hasFirstToken();
    long now = System.nanoTime();
    int start = content.readerIndex();
    if (content.nioBufferCount() == 1) {
      watching.see(content.internalNioBuffer(start, content.readableBytes()), now);
    } else {
      for (ByteBuffer piece : content.nioBuffers()) {
        watching.see(piece, now);
      }
    }
    if (waiting && watching.hasFirstToken()) {
      long arrived = request.trace().arrivedNanos();
      request.metrics().firstToken(now - arrived, request.trace().spanContext());
    }
  }

  /** Flushes now, or after {@link #BURST_NANOS} if the last flush was within this time. */
  public void flushSoon() {
    if (System.nanoTime() - flushedNanos >= BURST_NANOS || unflushedBytes > MAX_UNFLUSHED_BYTES) {
      flush();
    } else if (!flushDue) {
      flushDue = true;
      Runnable ifDue =
          () -> {
            if (flushDue) {
              flush();
            }
          };
      exchange.loop().schedule(ifDue, BURST_NANOS, TimeUnit.NANOSECONDS);
    }
  }

  /**
   * Flushes to the socket. If the client does not accept the data at once, reading the engine's
   * response pauses until it does.
   */
  public void flush() {
    flushDue = false;
    exchange.flush();
    unflushedBytes = 0;
    flushedNanos = System.nanoTime();
    if (!exchange.writable()) {
      reading.accept(false);
      exchange.whenWritable(() -> reading.accept(true));
    }
  }

  /** Ends the response, possibly later, and then runs {@code delivered}. */
  public void end(HttpHeaders trailers, Runnable delivered) {
    HeldBody body = whole;
    if (body == null || cachedTokens == null) {
      send(lines == null ? Unpooled.EMPTY_BUFFER : lines.end());
      complete(trailers, delivered);
      return;
    }
    long count = cachedTokens;
    request.compute(
        body,
        () -> changed(body, count),
        changed -> {
          if (whole != null) {
            if (changed != null) {
              body.replace(changed);
            }
            send(body.toBuffer());
            releaseWhole();
            complete(trailers, delivered);
          }
        });
  }

  /**
   * Returns the response with prefill's count; null if nothing changes, or if there is no room for
   * a copy.
   */
  private static byte @Nullable [] changed(HeldBody body, long count) {
    // Not for body.toBuffer(), because only the event loop may change the body's reference count.
    return body.take(body.length())
        ? CachedTokens.replaced(Unpooled.wrappedBuffer(body.join()), count)
        : null;
  }

  private void complete(HttpHeaders trailers, Runnable delivered) {
    flushDue = false;
    exchange.end(trailers);
    delivered.run();
  }

  /** Releases the unsent part of a response that will not be completed. */
  public void discard() {
    flushDue = false;
    if (lines != null) {
      lines.close();
    }
    releaseWhole();
  }

  private void releaseWhole() {
    if (whole != null) {
      whole.release();
      whole = null;
    }
  }

  /** Ends the observation of the response and returns it; null if it was not observed. */
  public @Nullable ResponseTap ended() {
    if (tap != null) {
      tap.end(System.nanoTime());
    }
    return tap;
  }
}
