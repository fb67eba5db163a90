package io.inferspan.pd.request;

import io.inferspan.pd.config.Settings;
import io.inferspan.pd.net.HeldBody;
import io.inferspan.pd.request.Gate.Progress;
import io.inferspan.pd.request.Gate.Verdict;
import io.inferspan.pd.telemetry.CallTrace;
import io.inferspan.pd.telemetry.Stage;
import io.inferspan.pd.telemetry.StageRun;
import io.inferspan.pd.telemetry.StageTrace;
import io.inferspan.pd.upstream.EngineCall;
import io.inferspan.pd.upstream.ForwardedHeaders;
import io.inferspan.pd.upstream.Target;
import io.inferspan.pd.upstream.UpstreamFailure;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import org.jspecify.annotations.Nullable;

/**
 * A call to a decoder. Its response is streamed to the client; if the call has a gate, only after
 * the gate has passed the response.
 *
 * <p>Reading pauses while the client is slow, and while an undecided gate holds its maximum.
 */
class DecodeCall extends EngineCall {
  private static final int FIRST_ERROR_STATUS = 400;
  private static final String FAILED = "decode request failed";
  private static final PdRequest.Reason DECODE_FAILED =
      new PdRequest.Reason("decode_failed", "the decoder failed meanwhile");

  private final PdRequest request;
  private final Target target;

  /** Null for a request that is passed through: its call is not part of a stage's span. */
  private final @Nullable StageTrace stage;

  /** Null for a request that is passed through, because it is not a decode. */
  private final @Nullable StageRun counted;

  private final @Nullable Long cachedTokens;
  private final Runnable cancelling = this::giveUp;
  private @Nullable Held held;
  private boolean over;

  /** The part of a response that a gate holds back. */
  private static final class Held {
    private final Gate gate;
    private final HeldBody body;
    private final long limit;
    private @Nullable CompositeByteBuf overflow;
    private @Nullable HttpResponse head;
    private HttpHeaders trailers = EmptyHttpHeaders.INSTANCE;
    private Progress progress = Progress.PARTIAL;

    Held(Gate gate, HeldBody body, long limit) {
      this.gate = gate;
      this.body = body;
      this.limit = gate.maxHeldBytes(limit);
    }

    /** Adds a piece; returns whether reading must pause. */
    boolean add(ByteBuf content) {
      if (overflow == null && body.append(content)) {
        content.release();
      } else {
        // Data that had been read before reading paused.
        overflow = overflow == null ? Unpooled.compositeBuffer(Integer.MAX_VALUE) : overflow;
        overflow.addFlattenedComponents(true, content);
      }
      return overflow != null || body.length() > limit;
    }

    void release() {
      body.release();
      if (overflow != null) {
        overflow.release();
        overflow = null;
      }
    }
  }

  /** Creates the call of a decode leg; it is never sent twice. */
  static DecodeCall of(PdRequest request, DecodeLeg leg) {
    HttpRequest head =
        ForwardedHeaders.forBody(request.exchange().request(), leg.body().length(), leg.headers());
    StageTrace stage = request.trace().decode();
    leg.describe(stage, request);
    Target target = leg.decoder(request);
    CallTrace callTrace = stage.call("POST", target.host(), target.port(), head.headers());
    return new DecodeCall(request, leg, head, stage, callTrace);
  }

  private DecodeCall(
      PdRequest request, DecodeLeg leg, HttpRequest head, StageTrace stage, CallTrace callTrace) {
    super(head, leg.body(), request.body().held().retain(), callTrace);
    onlyOnce();
    this.request = request;
    this.target = leg.decoder(request);
    this.stage = stage;
    this.counted = request.metrics().begin(Stage.DECODE, stage.spanContext());
    // Not the whole leg, so that its body is freed before the response ends.
    this.cachedTokens = leg.cachedTokens();
    if (leg.gate() != null) {
      held =
          new Held(
              leg.gate(),
              request.parts().heldBodies().open(),
              request.config().get(Settings.BODY_LIMIT));
    }
  }

  /** Creates a call that passes the client's request through. */
  DecodeCall(PdRequest request, Target target, @Nullable StageRun counted) {
    super(
        request.exchange().request(),
        null,
        null,
        request
            .trace()
            .call(request.exchange().request().method().name(), target.host(), target.port()));
    trace().inject(sent().headers());
    this.request = request;
    this.target = target;
    this.stage = null;
    this.counted = counted;
    this.cachedTokens = null;
  }

  final void start() {
    request.whenGone(cancelling);
    request.parts().decoders().start(request.loop(), target, this);
  }

  @Override
  protected final void head(HttpResponse head) {
    if (held == null) {
      ForwardedHeaders.fromEngine(head);
      answering(head);
      request.answer().begin(head, cachedTokens, this::reading);
    } else {
      held.head = head;
    }
  }

  /** Called when the response begins. */
  protected void answering(HttpResponse head) {
    // The gate has passed the response, so no other stage follows.
    request.releaseBody();
    int status = head.status().code();
    trace().answered(status);
    if (status >= FIRST_ERROR_STATUS && counted != null) {
      counted.failed();
    }
    if (status >= FIRST_ERROR_STATUS && stage != null) {
      stage.fail(Integer.toString(status), FAILED);
    }
  }

  @Override
  protected final void content(ByteBuf content) {
    if (held == null) {
      request.answer().write(content);
    } else if (held.add(content)) {
      held.progress = Progress.FULL;
      reading(false);
    }
  }

  /**
   * Asks the gate for its verdict. Called when more of the response has arrived, and when another
   * condition of the gate has changed.
   */
  final void decide() {
    Held waiting = held;
    HttpResponse head = waiting == null ? null : waiting.head;
    if (waiting == null || head == null) {
      return;
    }
    // The gate does not see the overflow, so the body is not complete for it.
    Progress seen = waiting.overflow == null ? waiting.progress : Progress.FULL;
    Verdict verdict = waiting.gate.look(head, waiting.body, seen);
    if (waiting != held) {
      // The gate was called again during its check.
      return;
    }
    if (verdict == Verdict.PASS) {
      held = null;
      pass(waiting, head);
    } else if (verdict == Verdict.DROP) {
      drop(waiting);
    }
  }

  private void pass(Held waiting, HttpResponse head) {
    head(head);
    content(waiting.body.toBuffer());
    if (waiting.overflow != null) {
      content(waiting.overflow);
      waiting.overflow = null;
    }
    waiting.release();
    pause();
    if (waiting.progress == Progress.COMPLETE) {
      ended(waiting.trailers);
    } else if (request.exchange().writable()) {
      reading(true);
    }
  }

  /** Withholds the response, and lets another stage use the client's connection. */
  private void drop(Held waiting) {
    cancel();
    end();
    if (stage != null) {
      stage.close();
    }
    waiting.gate.dropped();
  }

  @Override
  protected final void pause() {
    if (held == null) {
      request.answer().flushSoon();
    } else {
      decide();
    }
  }

  @Override
  protected final void ended(HttpHeaders trailers) {
    if (held == null) {
      request.answer().end(trailers, this::delivered);
    } else {
      held.trailers = trailers;
      held.progress = Progress.COMPLETE;
      decide();
    }
  }

  private void delivered() {
    end();
    if (counted != null) {
      counted.ended();
    }
    request.delivered();
  }

  private void end() {
    over = true;
    request.over(cancelling);
    trace().end();
    if (stage != null) {
      stage.endDecode();
    }
  }

  /**
   * Handles a missing or truncated response. If nothing was sent to the client yet, it gets an
   * error response.
   */
  @Override
  protected final void failed(UpstreamFailure failure) {
    discard();
    if (counted == null) {
      request.failed();
    } else {
      counted.failed();
    }
    fail(failure.type(), FAILED);
    // A running prefill could write into memory that the decoder has reused.
    request.giveUp(DECODE_FAILED);
    request.decoderFailed(failure);
  }

  private void giveUp() {
    if (!over) {
      cancel();
      PdRequest.Reason reason = request.givenUpBecause();
      fail(reason.type(), reason.text());
    }
  }

  private void fail(String type, String description) {
    over = true;
    trace().failed(type);
    if (stage != null) {
      stage.fail(type, description);
      stage.endDecode();
    }
  }

  /** Cancels the call, and releases the held part of its response. */
  @Override
  public final void cancel() {
    super.cancel();
    discard();
  }

  private void discard() {
    if (held == null) {
      request.answer().discard();
    } else {
      held.release();
      held = null;
    }
  }
}
