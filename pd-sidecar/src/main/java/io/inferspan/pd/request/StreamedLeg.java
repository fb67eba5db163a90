package io.inferspan.pd.request;

import io.inferspan.pd.config.Settings;
import io.inferspan.pd.metrics.Stage;
import io.inferspan.pd.metrics.StageRun;
import io.inferspan.pd.relay.BodyFilter;
import io.inferspan.pd.relay.Gate;
import io.inferspan.pd.relay.Relay;
import io.inferspan.pd.tracing.CallTrace;
import io.inferspan.pd.tracing.StageTrace;
import io.inferspan.pd.upstream.Target;
import io.inferspan.pd.upstream.UpstreamFailure;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Runs decode on this pod and streams its response to the client. */
final class StreamedLeg extends Relay {
  private static final int FIRST_ERROR_STATUS = 400;
  private static final LiveRequest.Reason DECODE_FAILED =
      new LiveRequest.Reason("decode_failed", "the decoder failed meanwhile");

  private final PdRequest request;
  private final @Nullable Function<HttpResponse, @Nullable BodyFilter> filter;
  private final @Nullable Gate gate;
  private final Target target;
  private final RequestWriter writer;
  private final StageTrace trace;
  private final StageRun counted;
  private final CallTrace callTrace;
  private final Runnable cancelling = this::giveUp;
  private boolean over;

  StreamedLeg(PdRequest request, DecodeLeg leg) {
    super(request.exchange(), request.answer(), false);
    this.request = request;
    // Not the whole leg, so that its body is freed before the response ends.
    this.filter = leg.filter();
    this.gate = leg.gate();
    this.target = request.decoder(leg);
    HttpRequest head = request.head(leg.body(), leg.headers());
    this.writer = request.writer(head, leg.body());
    // Decode is never sent twice, and its response may take minutes.
    writer.onlyOnce();
    this.trace = request.trace().decode();
    request.describe(trace, leg);
    this.counted = request.metrics().begin(Stage.DECODE, trace.spanContext());
    this.callTrace = trace.call("POST", target.host(), target.port(), head.headers());
    if (gate != null) {
      holdFor(gate, request.bodies().open(), request.config().get(Settings.BODY_LIMIT));
    }
  }

  void start() {
    request.whenGone(cancelling);
    request.parts().engines().decoders().start(request.loop(), target, this);
  }

  @Override
  protected void connected() {
    writer.send(this);
  }

  @Override
  protected void drained() {
    writer.resume();
  }

  @Override
  protected @Nullable BodyFilter answering(HttpResponse answer) {
    // The gate has passed it, so no other stage follows.
    request.releaseBody();
    int status = answer.status().code();
    callTrace.answered(status);
    if (status >= FIRST_ERROR_STATUS) {
      counted.failed();
      trace.fail(Integer.toString(status), "decode request failed");
    }
    return filter == null ? null : filter.apply(answer);
  }

  @Override
  protected void delivered() {
    end();
    counted.ended();
    request.delivered();
  }

  private void end() {
    over = true;
    writer.release();
    request.over(cancelling);
    callTrace.end();
    trace.endDecode();
  }

  /** Lets another stage use the client's connection. */
  @Override
  protected void dropped() {
    end();
    trace.close();
    if (gate != null) {
      gate.dropped();
    }
  }

  @Override
  protected void brokenOff(UpstreamFailure failure) {
    counted.failed();
    fail(failure.type(), "decode request failed");
    // A running prefill could write into memory that the decoder has reused.
    request.giveUp(DECODE_FAILED);
    request.decoderFailed(failure);
  }

  private void giveUp() {
    if (!over) {
      cancel();
      LiveRequest.Reason reason = request.givenUpBecause();
      fail(reason.type(), reason.text());
    }
  }

  private void fail(String type, String description) {
    over = true;
    writer.release();
    callTrace.failed(type);
    trace.fail(type, description);
    trace.endDecode();
  }
}
