package io.inferspan.samples.desk.trace;

import io.inferspan.catalog.EppSpans;
import io.inferspan.catalog.GatewaySpans;
import io.inferspan.catalog.KvCacheSpans;
import io.inferspan.catalog.PdSpans;
import io.inferspan.catalog.SpanType;
import io.inferspan.samples.desk.trace.Anatomy.Doing;
import io.inferspan.semconv.Attribute;
import io.inferspan.semconv.GatewayAttributes;
import io.inferspan.semconv.GenAiAttributes;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Divides the time to the first token of a trace into parts.
 *
 * <p>Sources are applied from coarse to fine, and a later source replaces an earlier one: the
 * gateway's attributes, then the spans of the endpoint picker, of the KV-cache index and of the
 * proxy, then the engines' attributes. Time that no span covers is "other".
 */
final class AnatomyReader {

  private static final Set<SpanType> SCHEDULING =
      Set.of(
          GatewaySpans.ORCHESTRATION,
          EppSpans.PROFILE_RUN,
          EppSpans.FILTER,
          EppSpans.SCORING,
          EppSpans.SCORER,
          EppSpans.PICKER,
          EppSpans.PROFILE_HANDLER,
          EppSpans.DISAGG_PROFILE_HANDLER,
          EppSpans.PREREQUEST,
          EppSpans.TOKENIZE);

  private static final Set<SpanType> KV_LOOKUP =
      Set.of(
          EppSpans.SCORER_PREFIX_CACHE,
          EppSpans.PREFIX_PRODUCER,
          KvCacheSpans.GET_SCORES,
          KvCacheSpans.LOOKUP,
          KvCacheSpans.COMPUTE);

  private final RequestPath way;
  private final long begin;
  private final TimePaint paint;

  private AnatomyReader(RequestPath way, long ttftNanos) {
    this.way = way;
    this.begin = way.arrival().span().startNanos();
    this.paint = new TimePaint(begin, begin + ttftNanos);
  }

  /** Returns the parts; null if no span reports a first token. */
  static @Nullable Anatomy read(RequestPath way) {
    Long ttft = way.ttftNanos();
    if (ttft == null || ttft == 0) {
      return null;
    }
    AnatomyReader reader = new AnatomyReader(way, ttft);
    reader.paintAll();
    return new Anatomy(reader.begin, ttft, way.engineTtftNanos(), reader.paint.parts());
  }

  private void paintAll() {
    paintGateway();
    paintSpans(SCHEDULING, Doing.SCHEDULE);
    paintSpans(KV_LOOKUP, Doing.KV_LOOKUP);
    paintProxy();
    paintAnsweringEngine();
    paintPrefillEngine();
  }

  /** Adds the parts that the gateway's attributes report, in the order in which they happen. */
  private void paintGateway() {
    Node gateway = way.gateway();
    if (gateway == null) {
      return;
    }
    long at = begin;
    at = paintMillis(gateway, GatewayAttributes.QUEUE_MS, Doing.QUEUE, at);
    at = paintMillis(gateway, GatewayAttributes.SCHEDULE_MS, Doing.SCHEDULE, at);
    at = paintMillis(gateway, GatewayAttributes.UPSTREAM_CONNECT_MS, Doing.CONNECT, at);
    paintMillis(gateway, GatewayAttributes.UPSTREAM_FIRST_TOKEN_MS, Doing.UPSTREAM, at);
  }

  private long paintMillis(Node node, Attribute<Double> attribute, Doing doing, long from) {
    Long length = RequestPath.millis(node, attribute);
    if (length == null) {
      return from;
    }
    paint.paint(doing, from, from + length, attribute.toString(), node);
    return from + length;
  }

  private void paintSpans(Set<SpanType> types, Doing doing) {
    for (Node node : way.known()) {
      if (types.contains(node.type())) {
        paint(doing, node);
      }
    }
  }

  private void paint(Doing doing, Node node) {
    paint.paint(doing, node.span().startNanos(), node.span().endNanos(), node.span().name(), node);
  }

  /**
   * Adds the stages of the proxy. Their time outside the engine's span counts as "wire". Without
   * stages, the proxy only forwards, so its own span is the call.
   */
  private void paintProxy() {
    Node proxy = way.proxy();
    Node prefill = way.prefillStage();
    Node decode = way.decodeStage();
    if (proxy != null) {
      boolean forwards = prefill == null && decode == null && way.answeringEngine() != null;
      paint(forwards ? Doing.WIRE : Doing.PROXY, proxy);
    }
    if (prefill != null) {
      paint(way.prefillEngine() == null ? Doing.PREFILL : Doing.WIRE, prefill);
    }
    if (decode != null) {
      Doing computing = prefill == null ? Doing.PREFILL : Doing.FIRST_DECODE;
      paint(way.answeringEngine() == null ? computing : Doing.WIRE, decode);
    }
  }

  /**
   * Adds the parts of the engine that sends the tokens. After a remote prefill, that engine first
   * waits for the KV blocks. The proxy sends a chunk to the client when the engine has ended it.
   */
  private void paintAnsweringEngine() {
    Node engine = way.answeringEngine();
    if (engine != null) {
      boolean remote = way.isDisaggregated();
      if (engine.above(PdSpans.CHUNKED_DECODE) != null) {
        paint(Doing.FIRST_DECODE, engine);
      }
      paintEngine(
          engine,
          remote ? Doing.TRANSFER : Doing.QUEUE,
          remote ? Doing.FIRST_DECODE : Doing.PREFILL);
    }
  }

  private void paintPrefillEngine() {
    Node engine = way.prefillEngine();
    if (engine != null) {
      paintEngine(engine, Doing.QUEUE, Doing.PREFILL);
    }
  }

  /**
   * Adds an engine's parts, backwards from the first token, because engines do not report the time
   * before they queue a request.
   */
  private void paintEngine(Node engine, Doing waiting, Doing computing) {
    Long ttft = RequestPath.seconds(engine, GenAiAttributes.LATENCY_TIME_TO_FIRST_TOKEN);
    if (ttft == null) {
      paint(computing, engine);
      return;
    }
    long firstToken = engine.span().startNanos() + ttft;
    paint.paint(Doing.ENGINE, engine.span().startNanos(), firstToken, engine.span().name(), engine);
    Long computed = RequestPath.seconds(engine, GenAiAttributes.LATENCY_TIME_IN_MODEL_PREFILL);
    Long waited = RequestPath.seconds(engine, GenAiAttributes.LATENCY_TIME_IN_QUEUE);
    long scheduled = firstToken - Math.min(ttft, computed == null ? ttft : computed);
    String name = engine.span().name() + " " + GenAiAttributes.LATENCY_TIME_IN_MODEL_PREFILL;
    paint.paint(computing, scheduled, firstToken, name, engine);
    if (waited != null) {
      long queued = Math.max(engine.span().startNanos(), scheduled - waited);
      String queue = engine.span().name() + " " + GenAiAttributes.LATENCY_TIME_IN_QUEUE;
      paint.paint(waiting, queued, scheduled, queue, engine);
    }
  }
}
