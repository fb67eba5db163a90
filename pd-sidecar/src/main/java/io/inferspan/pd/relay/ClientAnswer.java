package io.inferspan.pd.relay;

import io.inferspan.pd.metrics.SidecarMetrics;
import io.inferspan.pd.server.ClientExchange;
import io.inferspan.pd.tracing.RequestTrace;
import io.inferspan.response.ResponseTap;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponse;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Sends a response to the client: rewrites, observes, batches and flushes it.
 *
 * <p>Small pieces that arrived in one read are sent at once, in one write. Only pieces that follow
 * each other within {@link #BURST_NANOS}, far faster than tokens, are batched for this time,
 * because a burst would otherwise cost a system call per piece. A slow client pauses reading, so
 * that little is buffered.
 */
public final class ClientAnswer {
  private static final int FIRST_ERROR_STATUS = 400;
  private static final int GATHERED_BYTES = 16 * 1024;
  private static final int MAX_UNFLUSHED_BYTES = 64 * 1024;
  private static final long BURST_NANOS = 150_000;

  private final ClientExchange exchange;
  private final RequestTrace trace;
  private final SidecarMetrics metrics;
  private final boolean watched;
  private Consumer<Boolean> reading = _ -> {};
  private @Nullable BodyFilter filter;
  private @Nullable ResponseTap tap;
  private @Nullable ByteBuf pending;
  private boolean gathering;
  private boolean flushDue;
  private int unflushedBytes;
  private int status;
  private long flushedNanos = System.nanoTime() - BURST_NANOS;

  /**
   * Creates a response that has not begun.
   *
   * @param watched whether its tokens are recorded
   */
  public ClientAnswer(
      ClientExchange exchange, RequestTrace trace, SidecarMetrics metrics, boolean watched) {
    this.exchange = exchange;
    this.trace = trace;
    this.metrics = metrics;
    this.watched = watched;
  }

  /**
   * Begins the response.
   *
   * @param rewriting the filter of its body; null for none
   * @param flow stops and resumes the source of the response
   */
  public void begin(HttpResponse head, @Nullable BodyFilter rewriting, Consumer<Boolean> flow) {
    status = head.status().code();
    filter = rewriting;
    reading = flow;
    HttpHeaders headers = head.headers();
    if (watched && status < FIRST_ERROR_STATUS) {
      tap =
          ResponseTap.forHeaders(
              headers.get(HttpHeaderNames.CONTENT_TYPE),
              headers.get(HttpHeaderNames.CONTENT_ENCODING));
    }
    if (filter != null) {
      headers.remove(HttpHeaderNames.CONTENT_LENGTH);
    }
    exchange.head(head);
  }

  /** Returns its status; 0 if it has not begun. */
  public int status() {
    return status;
  }

  /** Writes a piece of the body and takes ownership of it. */
  public void write(ByteBuf content) {
    gather(filter == null ? content : filter.rewrite(content));
  }

  private void gather(ByteBuf next) {
    if (!next.isReadable()) {
      next.release();
      return;
    }
    see(next);
    if (pending == null) {
      pending = next;
    } else if (pending.readableBytes() + next.readableBytes() > GATHERED_BYTES) {
      writeGathered();
      pending = next;
    } else {
      pending = join(pending, next);
    }
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
      metrics.firstToken(now - trace.arrivedNanos(), trace.spanContext());
    }
  }

  private ByteBuf join(ByteBuf first, ByteBuf next) {
    ByteBuf joined = first;
    if (!gathering) {
      joined = first.alloc().directBuffer(GATHERED_BYTES).writeBytes(first);
      first.release();
      gathering = true;
    }
    joined.writeBytes(next);
    next.release();
    return joined;
  }

  /** Writes the batched pieces without a flush. */
  public void writeGathered() {
    if (pending != null) {
      unflushedBytes += pending.readableBytes();
      exchange.write(pending);
      pending = null;
      gathering = false;
    }
  }

  /** Flushes now, or after {@link #BURST_NANOS} if the last flush was within this time. */
  public void flushSoon() {
    if (System.nanoTime() - flushedNanos >= BURST_NANOS || unflushedBytes > MAX_UNFLUSHED_BYTES) {
      flush();
    } else if (!flushDue) {
      flushDue = true;
      exchange.loop().schedule(this::flushIfDue, BURST_NANOS, TimeUnit.NANOSECONDS);
    }
  }

  private void flushIfDue() {
    if (flushDue) {
      flush();
    }
  }

  /** Flushes to the socket; reading pauses until the client has accepted the data. */
  public void flush() {
    flushDue = false;
    writeGathered();
    exchange.flush();
    unflushedBytes = 0;
    flushedNanos = System.nanoTime();
    if (!exchange.writable()) {
      reading.accept(false);
      exchange.whenWritable(() -> reading.accept(true));
    }
  }

  /** Ends the response once its filter has, and then runs {@code delivered}. */
  public void end(HttpHeaders trailers, Runnable delivered) {
    if (filter == null) {
      complete(trailers, delivered);
    } else {
      filter.end(
          rest -> {
            gather(rest);
            complete(trailers, delivered);
          });
    }
  }

  private void complete(HttpHeaders trailers, Runnable delivered) {
    flushDue = false;
    writeGathered();
    exchange.end(trailers);
    delivered.run();
  }

  /** Releases the unsent part of a response that will not be completed. */
  public void discard() {
    flushDue = false;
    if (filter != null) {
      filter.discard();
    }
    if (pending != null) {
      pending.release();
      pending = null;
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
