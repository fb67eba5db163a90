package io.inferspan.pd.stage;

import io.inferspan.pd.metrics.Stage;
import io.inferspan.pd.relay.BodyFilter;
import io.inferspan.pd.relay.Gate;
import io.inferspan.pd.relay.GatedRelay;
import io.inferspan.pd.relay.Relay;
import io.inferspan.pd.server.ClientExchange;
import io.inferspan.pd.tracing.CallTrace;
import io.inferspan.pd.tracing.StageTrace;
import io.inferspan.pd.upstream.ResponseListener;
import io.inferspan.pd.upstream.Target;
import io.inferspan.pd.upstream.UpstreamCall;
import io.inferspan.pd.upstream.UpstreamException;
import io.inferspan.semconv.PdAttributes;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Runs decode on this pod and gives the client its answer. */
final class DecodeStage implements Relay.Leg {
  private static final int FIRST_ERROR_STATUS = 400;
  private static final LiveRequest.Reason DECODE_FAILED =
      new LiveRequest.Reason("decode_failed", "the decoder failed meanwhile");

  private final LiveRequest live;
  private final ProxyParts parts;
  private final @Nullable Function<HttpResponse, @Nullable BodyFilter> filter;
  private final @Nullable Gate gate;
  private final Runnable whenDropped;
  private final Target target;
  private final HttpRequest head;
  private final StageTrace trace;
  private final StageRun counted;
  private @Nullable StageBody body;
  private @Nullable CallTrace callTrace;
  private @Nullable Runnable discard;
  private Runnable decide = () -> {};
  private @Nullable UpstreamCall call;
  private boolean over;

  DecodeStage(LiveRequest live, ProxyParts parts, DecodeLeg leg, Target target) {
    this.live = live;
    this.parts = parts;
    this.filter = leg.filter();
    this.gate = leg.gate();
    this.whenDropped = leg.dropped();
    this.body = leg.body();
    this.target = target;
    this.head = StageCall.head(live.exchange(), leg.body(), leg.headers());
    this.trace = live.trace().decode();
    this.counted = live.begin(Stage.DECODE, trace.spanContext());
  }

  /** Gives what asks the gate again. */
  Runnable run(boolean streaming, boolean dataParallel) {
    trace.set(PdAttributes.DECODE_STREAMING, streaming);
    trace.set(PdAttributes.DECODE_DATA_PARALLEL, dataParallel);
    if (!dataParallel) {
      trace.set(PdAttributes.DECODE_TARGET, target.authority());
    }
    callTrace = trace.call("POST", target.host(), target.port(), head.headers());
    live.whenGone(this::cancel);
    ClientExchange exchange = live.exchange();
    call = parts.engines().decoders().call(exchange.loop(), target, false, listener(exchange));
    return decide;
  }

  private ResponseListener listener(ClientExchange exchange) {
    Relay relay = new Relay(exchange, this);
    if (gate == null) {
      discard = relay::drop;
      return relay;
    }
    GatedRelay gated =
        new GatedRelay(relay, gate, this::dropped, parts.config().limits().bodyBytes());
    discard = gated::discard;
    decide = gated::decide;
    return gated;
  }

  @Override
  public void send(UpstreamCall connected) {
    StageBody sent = body;
    // Decode is never sent twice, and its answer may take minutes.
    body = null;
    if (sent != null) {
      StageCall.write(connected, head, sent);
      // Behind a gate another stage may follow, which needs the body as well.
      if (gate == null) {
        live.releaseBody();
      }
    }
  }

  @Override
  public @Nullable BodyFilter head(HttpResponse answer) {
    live.answering(answer);
    int status = answer.status().code();
    if (callTrace != null) {
      callTrace.answered(status);
    }
    if (status >= FIRST_ERROR_STATUS) {
      counted.failed();
      trace.fail(Integer.toString(status), "decode request failed");
    }
    return filter == null ? null : filter.apply(answer);
  }

  @Override
  public void seen(ByteBuf content) {
    live.seen(content);
  }

  @Override
  public void delivered() {
    end();
    counted.ended();
    live.delivered();
  }

  private void end() {
    over = true;
    if (callTrace != null) {
      callTrace.end();
    }
    trace.endDecode();
  }

  /** The gate kept the answer from the client: what follows is another stage's. */
  private void dropped() {
    end();
    trace.close();
    whenDropped.run();
  }

  @Override
  public void failed(UpstreamException failure) {
    counted.failed();
    fail(LiveRequest.errorType(failure), "decode request failed");
    // A prefill that goes on could write into memory that the decoder has given to others.
    live.giveUp(DECODE_FAILED);
    live.decoderFailed(failure);
  }

  private void cancel() {
    if (!over) {
      if (call != null) {
        call.cancel();
      }
      if (discard != null) {
        discard.run();
      }
      LiveRequest.Reason reason = live.givenUpBecause();
      fail(reason.type(), reason.text());
    }
  }

  private void fail(String type, String description) {
    over = true;
    if (callTrace != null) {
      callTrace.failed(type);
    }
    trace.fail(type, description);
    trace.endDecode();
  }
}
