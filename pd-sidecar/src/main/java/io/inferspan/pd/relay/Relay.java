package io.inferspan.pd.relay;

import io.inferspan.pd.server.ClientExchange;
import io.inferspan.pd.upstream.ResponseListener;
import io.inferspan.pd.upstream.UpstreamCall;
import io.inferspan.pd.upstream.UpstreamException;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponse;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Passes an engine's answer on to the client as it comes.
 *
 * <p>Small pieces that came in one read go out as one write, at once. Only pieces that follow each
 * other within {@link #BURST_NANOS}, far closer than tokens do, are gathered for as long: a burst
 * would else cost a system call per piece. A client that is slow stops the reading, so that what is
 * held stays small.
 */
public final class Relay implements ResponseListener {
  private static final int GATHERED_BYTES = 16 * 1024;
  private static final int MAX_UNFLUSHED_BYTES = 64 * 1024;
  private static final long BURST_NANOS = 150_000;

  private final ClientExchange exchange;
  private final Leg leg;
  private @Nullable UpstreamCall call;
  private @Nullable BodyFilter filter;
  private @Nullable ByteBuf pending;
  private boolean gathering;
  private boolean flushDue;
  private int unflushedBytes;
  private long flushedNanos = System.nanoTime() - BURST_NANOS;

  /** What differs from answer to answer. */
  public interface Leg {

    /** The request is to be written. */
    void send(UpstreamCall call);

    /** The head has come: it may be changed, and a filter for the body named. */
    @Nullable BodyFilter head(HttpResponse head);

    /** A piece of the body passes, as the client gets it; it is only to be looked at. */
    void seen(ByteBuf content);

    /** The client has the whole answer. */
    void delivered();

    /** The client cannot have the whole answer; where nothing was sent, it is still to be told. */
    void failed(UpstreamException failure);

    /** The connection takes more of the request again. */
    default void writable() {}
  }

  public Relay(ClientExchange exchange, Leg leg) {
    this.exchange = exchange;
    this.leg = leg;
  }

  @Override
  public void ready(UpstreamCall call) {
    this.call = call;
    leg.send(call);
  }

  @Override
  public void head(HttpResponse head) {
    ForwardedHeaders.fromEngine(head);
    filter = leg.head(head);
    if (filter != null) {
      head.headers().remove(HttpHeaderNames.CONTENT_LENGTH);
    }
    exchange.head(head);
  }

  @Override
  public void content(ByteBuf content) {
    gather(filter == null ? content : filter.rewrite(content));
  }

  private void gather(ByteBuf next) {
    if (!next.isReadable()) {
      next.release();
      return;
    }
    leg.seen(next);
    if (pending == null) {
      pending = next;
    } else if (pending.readableBytes() + next.readableBytes() > GATHERED_BYTES) {
      writePending();
      pending = next;
    } else {
      pending = join(pending, next);
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

  private void writePending() {
    if (pending != null) {
      unflushedBytes += pending.readableBytes();
      exchange.write(pending);
      pending = null;
      gathering = false;
    }
  }

  @Override
  public void pause() {
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

  private void flush() {
    flushDue = false;
    writePending();
    exchange.flush();
    unflushedBytes = 0;
    flushedNanos = System.nanoTime();
    UpstreamCall slowed = call;
    if (slowed != null && !exchange.writable()) {
      slowed.reading(false);
      exchange.whenWritable(() -> slowed.reading(true));
    }
  }

  @Override
  public void end(HttpHeaders trailers) {
    if (filter != null) {
      gather(filter.end());
    }
    flushDue = false;
    writePending();
    exchange.end(trailers);
    leg.delivered();
  }

  @Override
  public void failed(UpstreamException failure) {
    if (exchange.answerBegun()) {
      writePending();
    }
    drop();
    leg.failed(failure);
  }

  /** Whether the client takes what it is given. */
  public boolean clientKeepsUp() {
    return exchange.writable();
  }

  /** Lets go of what is held. */
  public void drop() {
    flushDue = false;
    if (filter != null) {
      filter.discard();
    }
    if (pending != null) {
      pending.release();
      pending = null;
    }
  }

  @Override
  public void writable() {
    leg.writable();
  }
}
