package io.inferspan.pd.stage;

import io.inferspan.pd.config.SidecarConfig.Limits;
import io.inferspan.pd.json.JsonObject;
import io.inferspan.pd.json.JsonValue;
import io.inferspan.pd.metrics.Api;
import io.inferspan.pd.relay.EngineAnswer;
import io.inferspan.pd.relay.Errors;
import io.inferspan.pd.server.ClientExchange;
import io.inferspan.pd.tracing.CallTrace;
import io.inferspan.pd.tracing.RequestTrace;
import io.inferspan.pd.tracing.StageTrace;
import io.inferspan.pd.upstream.Target;
import io.inferspan.pd.upstream.Upstreams;
import io.netty.buffer.Unpooled;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.vertx.core.Future;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A request whose body has come whole, as a connector sees it.
 *
 * <p>A connector asks for a prefill, then for a decode; how that is sent, traced, counted and
 * cancelled is done here. All of it happens on one event loop.
 */
public final class PdRequest {
  private final LiveRequest live;
  private final ProxyParts parts;
  private final Decision decision;
  private final JsonObject body;
  private final StageBody original;
  private @Nullable BiConsumer<PdRequest, DecodeLeg> decoding;

  public PdRequest(
      LiveRequest live, ProxyParts parts, Decision decision, JsonObject body, StageBody original) {
    this.live = live;
    this.parts = parts;
    this.decision = decision;
    this.body = body;
    this.original = original;
  }

  /** The request as the proxy serves it. */
  public LiveRequest live() {
    return live;
  }

  /** Which API was called. */
  public Api api() {
    return decision.api();
  }

  /** The same request with another body, as an encode stage leaves it. */
  public PdRequest withBody(JsonObject changed, StageBody bytes) {
    PdRequest request = new PdRequest(live, parts, decision, changed, bytes);
    request.decoding = decoding;
    return request;
  }

  /** Decodes in another way than in one piece. */
  public PdRequest decodedBy(BiConsumer<PdRequest, DecodeLeg> way) {
    decoding = way;
    return this;
  }

  /** How much one request may take. */
  public Limits limits() {
    return parts.config().limits();
  }

  /** The client's body, scanned for {@link BodyMembers}. */
  public JsonObject body() {
    return body;
  }

  /** The client's body as it came. */
  public StageBody original() {
    return original;
  }

  /** Whether the client wants a stream. */
  public boolean streaming() {
    JsonValue stream = body.value(BodyMembers.STREAM);
    return stream != null && stream.isTrue();
  }

  /** Whether prefill runs on another pod. */
  public boolean hasPrefiller() {
    return decision.prefiller() != null;
  }

  /** The prefill pod. */
  public Target prefiller() {
    Target prefiller = decision.prefiller();
    if (prefiller == null) {
      throw new IllegalStateException("this request has no prefill pod");
    }
    return prefiller;
  }

  /** The pod that KV blocks may be pulled from; null where none is named or allowed. */
  public @Nullable String kvSource() {
    return decision.kvSource();
  }

  /** Which data-parallel rank's listener took the request. */
  public int rank() {
    return live.exchange().rank();
  }

  /** The request's trace. */
  public RequestTrace trace() {
    return live.trace();
  }

  /** Whether the client has its answer or went away; nothing needs to be done any more. */
  public boolean gone() {
    return live.ended();
  }

  /** Names the id that both stages carry. */
  public void identify(String requestId) {
    live.trace().identify(requestId);
  }

  /** The loop that this request lives on. */
  public EventLoop loop() {
    return live.exchange().loop();
  }

  /**
   * The decoder that the data-parallel header asks for, or the listener's own without it.
   *
   * @return null where the header names an unknown rank, which is a client error
   */
  public @Nullable Target decoder() {
    String asked = decision.dataParallel();
    return asked == null ? parts.decoders().of(rank()) : parts.decoders().at(asked);
  }

  /** Whether a header asks for another rank. */
  public boolean dataParallel() {
    return decision.dataParallel() != null;
  }

  /**
   * Runs prefill; it always succeeds with an answer, whose status tells.
   *
   * <p>Where the client leaves, it never completes. Told by the settings, answers of 502, 503 and
   * 504 are tried again.
   */
  public Future<EngineAnswer> prefill(PrefillLeg leg) {
    return new PrefillStage(live, parts, prefiller(), leg).run();
  }

  /** Runs decode, in one piece or another way; the client gets the answer. */
  public Runnable decode(DecodeLeg leg) {
    if (decoding == null) {
      return decodeWhole(leg);
    }
    decoding.accept(this, leg);
    return () -> {};
  }

  /** Runs decode in one piece; the client gets the answer. */
  public Runnable decodeWhole(DecodeLeg leg) {
    boolean routed = leg.target() != null && dataParallel();
    return new DecodeStage(live, parts, leg, decoder(leg)).run(streaming(), routed);
  }

  /** The decoder that a leg runs on. */
  public Target decoder(DecodeLeg leg) {
    Target target = leg.target();
    return target == null ? parts.decoders().of(rank()) : target;
  }

  /** Asks a leg's decoder something else; the answer is not the client's. */
  public EngineQuestion ask(DecodeLeg leg, StageBody question, StageTrace stage) {
    Target target = decoder(leg);
    HttpRequest head = StageCall.head(live.exchange(), question, leg.headers());
    CallTrace call = stage.call("POST", target.host(), target.port(), head.headers());
    return new EngineQuestion(live, head, question, call, limits().bodyBytes())
        .ask(loop(), parts.engines().decoders(), target, false);
  }

  /** Asks an encoder, which gets nothing of the client's headers. */
  public EngineQuestion askEncoder(Target encoder, HttpRequest head, StageBody question) {
    CallTrace call = live.trace().call("POST", encoder.host(), encoder.port());
    call.inject(head.headers());
    // Encoding twice does no harm, so a connection that died unused is no reason to fail.
    return new EngineQuestion(live, head, question, call, limits().bodyBytes())
        .ask(loop(), parts.engines().encoders(), encoder, true);
  }

  /** Gives the client an engine's answer as it is. */
  public void deliver(EngineAnswer answer) {
    live.exchange()
        .respond(
            HttpResponseStatus.valueOf(answer.status()),
            answer.headers(),
            Unpooled.wrappedBuffer(answer.body()));
    live.answered(answer.status());
  }

  /** Begins an answer that is put together here; it is rewritten as the leg says. */
  public OwnAnswer answer(HttpHeaders headers, DecodeLeg leg) {
    return OwnAnswer.begin(live, headers, leg);
  }

  /** Refuses the request with an error in the engines' shape. */
  public void refuse(HttpResponseStatus status, String type, String text) {
    ClientExchange exchange = live.exchange();
    live.failed();
    live.trace().fail(Integer.toString(status.code()), type);
    Errors.json(exchange, status, type, text);
    live.answered(status.code());
  }

  /** Refuses the request without a body. */
  public void refuse(HttpResponseStatus status) {
    live.failed();
    live.trace().fail(Integer.toString(status.code()), "refused");
    Errors.empty(live.exchange(), status);
    live.answered(status.code());
  }

  /** Connections to what prefill pods tell about themselves. */
  public Upstreams bootstraps() {
    return parts.engines().bootstraps();
  }
}
