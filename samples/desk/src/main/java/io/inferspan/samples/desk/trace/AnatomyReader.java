package io.inferspan.samples.desk.trace;

import io.inferspan.catalog.EppSpans;
import io.inferspan.catalog.GatewaySpans;
import io.inferspan.catalog.KvCacheSpans;
import io.inferspan.catalog.SpanType;
import io.inferspan.samples.desk.trace.Anatomy.Doing;
import io.inferspan.semconv.Attribute;
import io.inferspan.semconv.GatewayAttributes;
import io.inferspan.semconv.GenAiAttributes;
import io.inferspan.semconv.PdAttributes;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads from a trace what the time to the first token was made of.
 *
 * <p>The coarse comes first, and what knows better covers it: the gateway's own division, then the
 * spans of the endpoint picker, then those of the KV-cache index, then what engines say of
 * themselves. What nobody claims is left as "other".
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

  private final RequestWay way;
  private final long begin;
  private final TimePaint paint;

  private AnatomyReader(RequestWay way, long ttftNanos) {
    this.way = way;
    this.begin = way.arrival().span().startNanos();
    this.paint = new TimePaint(begin, begin + ttftNanos);
  }

  /** Null where no first token is known of. */
  static @Nullable Anatomy read(RequestWay way) {
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
    paintStages();
    paintAnsweringEngine();
    paintPrefillEngine();
  }

  /** The gateway measures its parts, of which the first follow each other in this order. */
  private void paintGateway() {
    Node gateway = way.gateway();
    if (gateway == null) {
      return;
    }
    long at = begin;
    at = paintMillis(gateway, GatewayAttributes.QUEUE_MS, Doing.QUEUE, at);
    at = paintMillis(gateway, GatewayAttributes.SCHEDULE_MS, Doing.SCHEDULE, at);
    at = paintMillis(gateway, GatewayAttributes.UPSTREAM_CONNECT_MS, Doing.CONNECT, at);
    paintMillis(gateway, GatewayAttributes.UPSTREAM_FIRST_TOKEN_MS, Doing.OTHER, at);
  }

  private long paintMillis(Node node, Attribute<Double> attribute, Doing doing, long from) {
    Long length = RequestWay.millis(node, attribute);
    if (length == null) {
      return from;
    }
    paint.paint(doing, from, from + length, attribute.toString());
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
    paint.paint(doing, node.span().startNanos(), node.span().endNanos(), node.span().name());
  }

  /** A stage counts as a whole only where its engine tells nothing. */
  private void paintStages() {
    Node prefill = way.prefillStage();
    Node decode = way.decodeStage();
    if (prefill != null && way.prefillEngine() == null) {
      paint(Doing.PREFILL, prefill);
    }
    if (decode != null && way.answeringEngine() == null) {
      paint(prefill == null ? Doing.PREFILL : Doing.FIRST_DECODE, decode);
    }
    if (prefill != null && decode != null) {
      paint.paint(
          Doing.OTHER,
          prefill.span().endNanos(),
          decode.span().startNanos(),
          PdAttributes.COORDINATOR_OVERHEAD_MS.toString());
    }
  }

  /** Where another engine has prefilled, this one waits for its KV blocks before it can begin. */
  private void paintAnsweringEngine() {
    Node engine = way.answeringEngine();
    if (engine != null) {
      boolean remote = way.isDisaggregated();
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

  /** Backwards from its first token: what an engine does before it queues a request, it omits. */
  private void paintEngine(Node engine, Doing waiting, Doing computing) {
    Long ttft = RequestWay.seconds(engine, GenAiAttributes.LATENCY_TIME_TO_FIRST_TOKEN);
    if (ttft == null) {
      paint(computing, engine);
      return;
    }
    long firstToken = engine.span().startNanos() + ttft;
    Long computed = RequestWay.seconds(engine, GenAiAttributes.LATENCY_TIME_IN_MODEL_PREFILL);
    Long waited = RequestWay.seconds(engine, GenAiAttributes.LATENCY_TIME_IN_QUEUE);
    long scheduled = firstToken - Math.min(ttft, computed == null ? ttft : computed);
    String name = engine.span().name() + " " + GenAiAttributes.LATENCY_TIME_IN_MODEL_PREFILL;
    paint.paint(computing, scheduled, firstToken, name);
    if (waited != null) {
      long queued = Math.max(engine.span().startNanos(), scheduled - waited);
      String queue = engine.span().name() + " " + GenAiAttributes.LATENCY_TIME_IN_QUEUE;
      paint.paint(waiting, queued, scheduled, queue);
    }
  }
}
