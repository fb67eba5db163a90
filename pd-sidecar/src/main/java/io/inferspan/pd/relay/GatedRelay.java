package io.inferspan.pd.relay;

import io.inferspan.pd.relay.Gate.Verdict;
import io.inferspan.pd.upstream.ResponseListener;
import io.inferspan.pd.upstream.UpstreamCall;
import io.inferspan.pd.upstream.UpstreamException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponse;
import org.jspecify.annotations.Nullable;

/** Holds an answer back until a gate lets it pass; more than a bound is left unread meanwhile. */
public final class GatedRelay implements ResponseListener {
  private static final int MAX_PARTS = 1024;

  private final Relay relay;
  private final Gate gate;
  private final Runnable dropped;
  private final long limit;
  private final CompositeByteBuf held;
  private @Nullable UpstreamCall call;
  private @Nullable HttpResponse head;
  private HttpHeaders trailers = EmptyHttpHeaders.INSTANCE;
  private boolean complete;
  private boolean decided;

  public GatedRelay(Relay relay, Gate gate, Runnable dropped, long limit) {
    this.relay = relay;
    this.gate = gate;
    this.dropped = dropped;
    this.limit = gate.mostHeldBytes(limit);
    this.held = Unpooled.compositeBuffer(MAX_PARTS);
  }

  @Override
  public void ready(UpstreamCall call) {
    this.call = call;
    relay.ready(call);
  }

  @Override
  public void head(HttpResponse head) {
    if (decided) {
      relay.head(head);
    } else {
      this.head = head;
    }
  }

  @Override
  public void content(ByteBuf content) {
    if (decided) {
      relay.content(content);
      return;
    }
    held.addComponent(true, content);
    if (held.readableBytes() > limit && call != null) {
      call.reading(false);
    }
  }

  @Override
  public void pause() {
    if (decided) {
      relay.pause();
    } else {
      decide();
    }
  }

  @Override
  public void end(HttpHeaders trailers) {
    if (decided) {
      relay.end(trailers);
    } else {
      this.trailers = trailers;
      complete = true;
      decide();
    }
  }

  /** Asks the gate again, because something outside the answer has changed. */
  public void decide() {
    if (decided || head == null) {
      return;
    }
    Verdict verdict = gate.look(head, held, complete);
    decided = verdict != Verdict.WAIT;
    if (verdict == Verdict.PASS) {
      pass(head);
    } else if (verdict == Verdict.DROP) {
      drop();
    }
  }

  private void pass(HttpResponse answer) {
    relay.head(answer);
    relay.content(held);
    relay.pause();
    if (complete) {
      relay.end(trailers);
    } else if (call != null && relay.clientKeepsUp()) {
      call.reading(true);
    }
  }

  private void drop() {
    if (call != null) {
      call.cancel();
    }
    held.release();
    dropped.run();
  }

  @Override
  public void failed(UpstreamException failure) {
    if (!decided) {
      decided = true;
      held.release();
    }
    relay.failed(failure);
  }

  /** Lets go of what is held. */
  public void discard() {
    if (!decided) {
      decided = true;
      held.release();
    }
    relay.drop();
  }

  @Override
  public void writable() {
    relay.writable();
  }
}
