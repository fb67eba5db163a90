package io.inferspan.pd.relay;

import io.inferspan.pd.memory.HeldBody;
import io.inferspan.pd.relay.Gate.Progress;
import io.inferspan.pd.relay.Gate.Verdict;
import io.inferspan.pd.server.ClientExchange;
import io.inferspan.pd.upstream.EngineCall;
import io.inferspan.pd.upstream.UpstreamFailure;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponse;
import org.jspecify.annotations.Nullable;

/**
 * A call whose response is streamed to the client, after its gate, if any, has passed it.
 *
 * <p>A slow client pauses reading; a gate without a decision does so beyond a limit.
 */
public abstract class Relay extends EngineCall {
  private final ClientExchange exchange;
  private final ClientAnswer answer;
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

  protected Relay(ClientExchange exchange, ClientAnswer answer, boolean replayable) {
    super(replayable);
    this.exchange = exchange;
    this.answer = answer;
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

  /**
   * Called when the response begins; may change the head, and returns a filter for the body or
   * null.
   */
  protected abstract @Nullable BodyFilter answering(HttpResponse head);

  /** Called when the client has received the whole response. */
  protected abstract void delivered();

  /** Called when the gate withheld the response from the client. */
  protected void dropped() {}

  /** Handles a truncated response; if nothing was sent, the client must still be answered. */
  protected abstract void brokenOff(UpstreamFailure failure);

  @Override
  protected final void head(HttpResponse head) {
    if (held != null) {
      held.head = head;
      return;
    }
    ForwardedHeaders.fromEngine(head);
    answer.begin(head, answering(head), this::reading);
  }

  @Override
  protected final void content(ByteBuf content) {
    if (held == null) {
      answer.write(content);
    } else if (held.add(content)) {
      held.progress = Progress.FULL;
      reading(false);
    }
  }

  /** Checks the gate again, because a condition other than the response has changed. */
  public final void decide() {
    Held waiting = held;
    HttpResponse head = waiting == null ? null : waiting.head;
    if (waiting == null || head == null) {
      return;
    }
    Verdict verdict = waiting.gate.look(head, waiting.body, waiting.progress);
    if (waiting != held) {
      // The gate was called again during its check.
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

  @Override
  protected final void pause() {
    if (held != null) {
      decide();
    } else {
      answer.flushSoon();
    }
  }

  @Override
  protected final void ended(HttpHeaders trailers) {
    if (held != null) {
      held.trailers = trailers;
      held.progress = Progress.COMPLETE;
      decide();
    } else {
      answer.end(trailers, this::delivered);
    }
  }

  @Override
  protected final void failed(UpstreamFailure failure) {
    if (exchange.answerBegun()) {
      answer.writeGathered();
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
    if (held != null) {
      held.release();
      held = null;
    } else {
      answer.discard();
    }
  }
}
