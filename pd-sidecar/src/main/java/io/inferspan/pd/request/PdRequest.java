package io.inferspan.pd.request;

import io.inferspan.pd.config.Settings;
import io.inferspan.pd.json.JsonObject;
import io.inferspan.pd.json.JsonPieces;
import io.inferspan.pd.json.JsonScan;
import io.inferspan.pd.memory.HeldBody;
import io.inferspan.pd.relay.EngineAnswer;
import io.inferspan.pd.server.ClientExchange;
import io.inferspan.pd.tracing.CallTrace;
import io.inferspan.pd.tracing.RequestTrace;
import io.inferspan.pd.tracing.StageTrace;
import io.inferspan.pd.upstream.Target;
import io.inferspan.semconv.PdAttributes;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.util.AsciiString;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A request and the calls that serve it.
 *
 * <p>A connector {@linkplain #ask asks} for a prefill and {@linkplain #stream streams} a decode.
 * This class sends, traces, counts and cancels the calls. It runs on one event loop.
 */
public final class PdRequest extends LiveRequest {
  private static final AsciiString REQUEST_ID = AsciiString.cached("x-request-id");
  private @Nullable RequestBody body;
  private @Nullable String id;
  private @Nullable Consumer<DecodeLeg> decoding;

  private PdRequest(
      ClientExchange exchange, ProxyParts parts, Decision decision, RequestTrace trace) {
    super(exchange, parts, decision, trace);
  }

  /** Counts an arrived request and ensures that it ends. */
  public static PdRequest begin(
      ClientExchange exchange, ProxyParts parts, Decision decision, RequestTrace trace) {
    PdRequest request = new PdRequest(exchange, parts, decision, trace);
    request.begin();
    return request;
  }

  /** Returns the prefill pod. */
  public Target prefiller() {
    Target prefiller = decision().prefiller();
    if (prefiller == null) {
      throw new IllegalStateException("this request has no prefill pod");
    }
    return prefiller;
  }

  /**
   * Returns the decoder that the data-parallel header requests, or the listener's own without the
   * header.
   *
   * @return null if the header names an unknown rank, which is a client error
   */
  public @Nullable Target decoder() {
    String asked = decision().dataParallel();
    return asked == null ? ownDecoder() : parts().decoders().at(asked);
  }

  private Target ownDecoder() {
    return parts().decoders().of(exchange().rank());
  }

  Target decoder(DecodeLeg leg) {
    Target target = leg.target();
    return target == null ? ownDecoder() : target;
  }

  /** Sets the attributes of a decode leg on its span. */
  public void describe(StageTrace stage, DecodeLeg leg) {
    boolean routed = leg.target() != null && decision().dataParallel() != null;
    stage.set(PdAttributes.DECODE_STREAMING, body().streaming());
    stage.set(PdAttributes.DECODE_DATA_PARALLEL, routed);
    if (!routed) {
      stage.set(PdAttributes.DECODE_TARGET, decoder(leg).authority());
    }
  }

  /** Sets the scanned body. */
  public void scanned(HeldBody incoming, JsonObject json) {
    body = new RequestBody(incoming, json);
  }

  /** Returns the collected body. */
  public RequestBody body() {
    if (body == null) {
      throw new IllegalStateException("the body was not gathered");
    }
    return body;
  }

  /** Sets the id that all stages have in common. */
  public void identify(String requestId) {
    id = requestId;
    trace().identify(requestId);
  }

  /** Returns the id that all stages have in common; null if no stage has set one yet. */
  public @Nullable String id() {
    return id;
  }

  /** Sets another way to decode than in one piece. */
  public void decodedBy(Consumer<DecodeLeg> way) {
    decoding = way;
  }

  /** Rejects a request for an unknown rank. */
  public void refuseRank() {
    EngineAnswer answer = EngineAnswer.empty(HttpResponseStatus.BAD_REQUEST);
    refuse(answer, "unknown_rank", "no such data-parallel rank");
  }

  /** Returns the client's head for another body, with additional headers. */
  HttpRequest head(JsonPieces sent, Map<String, String> added) {
    HttpRequest request = exchange().request();
    HttpHeaders headers = request.headers().copy();
    // The response is parsed.
    headers.remove(HttpHeaderNames.ACCEPT_ENCODING);
    headers.remove(HttpHeaderNames.TRANSFER_ENCODING);
    headers.remove(HttpHeaderNames.EXPECT);
    headers.set(HttpHeaderNames.CONTENT_LENGTH, sent.length());
    added.forEach(
        (name, value) -> {
          // llm-d adds its id after the client's own; any other header replaces the client's.
          if (REQUEST_ID.contentEqualsIgnoreCase(name)) {
            headers.add(name, value);
          } else {
            headers.set(name, value);
          }
        });
    return new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.POST, request.uri(), headers);
  }

  /**
   * Runs prefill and passes its response, or its failure, to {@code next}; not if the client
   * disconnects. Depending on the settings, responses of 502, 503 and 504 are retried.
   */
  public void ask(PrefillLeg leg, Consumer<EngineAnswer> next) {
    new PrefillStage(this, leg, next).run();
  }

  /** Runs prefill and ignores its response. */
  public void ask(PrefillLeg leg) {
    ask(leg, _ -> {});
  }

  /** Sends another request to a leg's decoder; its response is not passed to the client. */
  public BufferedCall ask(
      DecodeLeg leg, JsonPieces sent, StageTrace stage, Consumer<EngineAnswer> next) {
    Target target = decoder(leg);
    HttpRequest head = head(sent, leg.headers());
    CallTrace callTrace = stage.call("POST", target.host(), target.port(), head.headers());
    BufferedCall call = call(head, sent, callTrace, false, next);
    parts().engines().decoders().start(loop(), target, call);
    return call;
  }

  /** Sends a request to an encoder, without the client's headers. */
  public BufferedCall askEncoder(
      Target encoder, HttpRequest head, JsonPieces sent, Consumer<EngineAnswer> next) {
    CallTrace callTrace = trace().call("POST", encoder.host(), encoder.port());
    callTrace.inject(head.headers());
    // Encoding twice is harmless, so the request is retried if an idle connection was dead.
    BufferedCall call = call(head, sent, callTrace, true, next);
    parts().engines().encoders().start(loop(), encoder, call);
    call.endAfter(loop(), config().get(Settings.PREFILL_TIMEOUT));
    return call;
  }

  /** Creates a call whose response is passed to {@code next}. */
  BufferedCall call(
      HttpRequest head,
      JsonPieces sent,
      CallTrace callTrace,
      boolean replayable,
      Consumer<EngineAnswer> next) {
    return new BufferedCall(
        bodies(),
        config().get(Settings.BODY_LIMIT),
        writer(head, sent),
        callTrace,
        replayable,
        answer -> guard(() -> next.accept(answer)));
  }

  /** Creates a writer, which holds the client's body. */
  RequestWriter writer(HttpRequest head, JsonPieces sent) {
    return new RequestWriter(bodies(), retainBody(), head, sent);
  }

  /** Scans the body of a response, which the caller holds. */
  public void scan(EngineAnswer answer, Consumer<JsonScan> next) {
    int depth = config().get(Settings.JSON_DEPTH_LIMIT);
    HeldBody holding = answer.held();
    if (holding == null) {
      next.accept(JsonScan.of(answer.body(), depth));
    } else {
      compute(holding, () -> JsonScan.of(holding.join(), depth), next);
    }
  }

  /** Runs decode, in one piece or another way, and passes the response to the client. */
  public void stream(DecodeLeg leg) {
    if (decoding == null) {
      streamWhole(leg);
    } else {
      decoding.accept(leg);
    }
  }

  /** Runs decode in one piece; returns an action that checks the leg's gate again. */
  public Runnable streamWhole(DecodeLeg leg) {
    StreamedLeg streamed = new StreamedLeg(this, leg);
    if (leg.gate() == null) {
      releaseBody();
    }
    streamed.start();
    return streamed::decide;
  }

  /** Passes the request through to a decoder. */
  public void pass(Target decoder) {
    new PassedLeg(this, decoder).start();
  }
}
