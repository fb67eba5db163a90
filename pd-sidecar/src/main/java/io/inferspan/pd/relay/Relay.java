package io.inferspan.pd.relay;

import io.inferspan.pd.memory.HeldBody;
import io.inferspan.pd.relay.Gate.Progress;
import io.inferspan.pd.relay.Gate.Verdict;
import io.inferspan.pd.server.ClientExchange;
import io.inferspan.pd.upstream.EngineCall;
import io.inferspan.pd.upstream.UpstreamException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponse;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A call whose response is passed on to the client as it arrives, after its gate, if any, lets it.
 *
 * <p>Small pieces that arrived in one read are sent as one write, at once. Only pieces that follow
 * each other within {@link #BURST_NANOS}, far faster than tokens, are collected for this time:
 * otherwise a burst would cost a system call per piece. A slow client pauses reading, so that
 * little is held; so does a waiting gate, beyond a limit.
 */
public abstract class Relay extends EngineCall {
  private static final int GATHERED_BYTES = 16 * 1024;
  private static final int MAX_UNFLUSHED_BYTES = 64 * 1024;
  private static final long BURST_NANOS = 150_000;

  private final ClientExchange exchange;
  private @Nullable BodyFilter filter;
  private @Nullable ByteBuf pending;
  private boolean gathering;
  private boolean flushDue;
  private boolean over;
  private int unflushedBytes;
  private long flushedNanos = System.nanoTime() - BURST_NANOS;
  private @Nullable Held held;

  /** The part of a response that a gate holds back. */
  private static final class Held {
    private final Gate gate;
    private final HeldBody body;
    private final long limit;
    private @Nullable ByteBuf unheld;
    private @Nullable HttpResponse head;
    private HttpHeaders trailers = EmptyHttpHeaders.INSTANCE;
    private Progress progress = Progress.PARTIAL;

    Held(Gate gate, HeldBody body, long limit) {
      this.gate = gate;
      this.body = body;
      this.limit = gate.mostHeldBytes(limit);
    }

    /** Adds a piece; returns whether reading must pause. */
    boolean add(ByteBuf content) {
      if (unheld == null && body.append(content)) {
        content.release();
      } else {
        // Data that had been read before reading paused.
        unheld = unheld == null ? content : Unpooled.wrappedBuffer(unheld, content);
      }
      return unheld != null || body.length() > limit;
    }

    void release() {
      body.release();
      if (unheld != null) {
        unheld.release();
        unheld = null;
      }
    }
  }

  protected Relay(ClientExchange exchange, boolean replayable) {
    super(replayable);
    this.exchange = exchange;
  }

  /**
   * Holds the response back until a gate lets it pass. Call it before the call starts.
   *
   * @param body receives the held bytes
   * @param limit the maximum number of held bytes
   */
  protected final void holdFor(Gate gate, HeldBody body, long limit) {
    held = new Held(gate, body, limit);
  }

  /** The answer begins: its head may be changed, and a filter for the body returned. */
  protected abstract @Nullable BodyFilter answering(HttpResponse head);

  /** A piece of the body passes, as the client gets it; it is only to be looked at. */
  protected abstract void seen(ByteBuf content);

  /** The client has the whole answer. */
  protected abstract void delivered();

  /** The gate kept the answer from the client. */
  protected void dropped() {}

  /** Handles a truncated response; if nothing was sent, the client must still be answered. */
  protected abstract void brokenOff(UpstreamException failure);

  @Override
  protected final void head(HttpResponse head) {
    if (held != null) {
      held.head = head;
      return;
    }
    ForwardedHeaders.fromEngine(head);
    filter = answering(head);
    if (filter != null) {
      head.headers().remove(HttpHeaderNames.CONTENT_LENGTH);
    }
    exchange.head(head);
  }

  @Override
  protected final void content(ByteBuf content) {
    if (held == null) {
      gather(filter == null ? content : filter.rewrite(content));
    } else if (held.add(content)) {
      held.progress = Progress.FULL;
      reading(false);
    }
  }

  /** Asks the gate again, because something outside the answer has changed. */
  public final void decide() {
    Held waiting = held;
    HttpResponse head = waiting == null ? null : waiting.head;
    if (waiting == null || head == null) {
      return;
    }
    Verdict verdict = waiting.gate.look(head, waiting.body, waiting.progress);
    if (waiting != held) {
      // The gate was asked again while it looked.
      return;
    }
    if (verdict == Verdict.PASS) {
      held = null;
      pass(waiting, head);
    } else if (verdict == Verdict.DROP) {
      cancel();
      dropped();
    }
  }

  private void pass(Held waiting, HttpResponse head) {
    head(head);
    content(waiting.body.toBuffer());
    if (waiting.unheld != null) {
      content(waiting.unheld);
      waiting.unheld = null;
    }
    waiting.release();
    pause();
    if (waiting.progress == Progress.COMPLETE) {
      ended(waiting.trailers);
    } else if (exchange.writable()) {
      reading(true);
    }
  }

  private void gather(ByteBuf next) {
    if (!next.isReadable()) {
      next.release();
      return;
    }
    seen(next);
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
  protected final void pause() {
    if (held != null) {
      decide();
    } else if (System.nanoTime() - flushedNanos >= BURST_NANOS
        || unflushedBytes > MAX_UNFLUSHED_BYTES) {
      flushAll();
    } else if (!flushDue) {
      flushDue = true;
      exchange.loop().schedule(this::flushIfDue, BURST_NANOS, TimeUnit.NANOSECONDS);
    }
  }

  private void flushIfDue() {
    if (flushDue) {
      flushAll();
    }
  }

  private void flushAll() {
    flushDue = false;
    writePending();
    exchange.flush();
    unflushedBytes = 0;
    flushedNanos = System.nanoTime();
    if (!exchange.writable()) {
      reading(false);
      exchange.whenWritable(() -> reading(true));
    }
  }

  @Override
  protected final void ended(HttpHeaders trailers) {
    if (held != null) {
      held.trailers = trailers;
      held.progress = Progress.COMPLETE;
      decide();
    } else if (filter == null) {
      complete(trailers);
    } else {
      filter.end(
          rest -> {
            gather(rest);
            complete(trailers);
          });
    }
  }

  private void complete(HttpHeaders trailers) {
    flushDue = false;
    writePending();
    over = true;
    exchange.end(trailers);
    delivered();
  }

  @Override
  protected final void failed(UpstreamException failure) {
    if (exchange.answerBegun()) {
      writePending();
    }
    drop();
    brokenOff(failure);
  }

  /** Cancels the call, and releases the held part of its response. */
  @Override
  public final void cancel() {
    super.cancel();
    drop();
  }

  private void drop() {
    if (over) {
      return;
    }
    over = true;
    flushDue = false;
    if (held != null) {
      held.release();
      held = null;
    }
    if (filter != null) {
      filter.discard();
    }
    if (pending != null) {
      pending.release();
      pending = null;
    }
  }
}
