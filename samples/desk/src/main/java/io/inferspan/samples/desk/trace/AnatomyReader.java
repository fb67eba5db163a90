package io.inferspan.samples.desk.trace;

import io.inferspan.catalog.EppSpans;
import io.inferspan.catalog.GatewaySpans;
import io.inferspan.catalog.KvCacheSpans;
import io.inferspan.catalog.PdSpans;
import io.inferspan.catalog.SpanType;
import io.inferspan.samples.desk.trace.Anatomy.Activity;
import io.inferspan.semconv.Attribute;
import io.inferspan.semconv.GatewayAttributes;
import io.inferspan.semconv.GenAiAttributes;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Divides the time to the first token of a trace into parts.
 *
 * <p>Sources are applied from coarse to fine, and a later source replaces earlier ones: the
 * gateway's attributes, then the spans of the endpoint picker, of the KV-cache index and of the
 * proxy, then the engines' attributes. Time that no source covers is {@link Activity#OTHER}.
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

  private final RequestPath path;
  private final long begin;
  private final TimeRange range;

  private AnatomyReader(RequestPath path, long ttftNanos) {
    this.path = path;
    this.begin = path.arrival().span().startNanos();
    this.range = new TimeRange(begin, begin + ttftNanos);
  }

  /** Returns the parts; null if no span reports a first token. */
  static @Nullable Anatomy read(RequestPath path) {
    Long ttft = path.ttftNanos();
    if (ttft == null || ttft == 0) {
      return null;
    }
    AnatomyReader reader = new AnatomyReader(path, ttft);
    reader.addAll();
    return new Anatomy(reader.begin, ttft, path.engineTtftNanos(), reader.range.parts());
  }

  private void addAll() {
    addGateway();
    addSpans(SCHEDULING, Activity.SCHEDULE);
    addSpans(KV_LOOKUP, Activity.KV_LOOKUP);
    addProxy();
    addAnsweringEngine();
    addPrefillEngine();
  }

  /** Adds the parts that the gateway's attributes report, in the order in which they happen. */
  private void addGateway() {
    Node gateway = path.gateway();
    if (gateway == null) {
      return;
    }
    long at = begin;
    at = addMillis(gateway, GatewayAttributes.QUEUE_MS, Activity.QUEUE, at);
    at = addMillis(gateway, GatewayAttributes.SCHEDULE_MS, Activity.SCHEDULE, at);
    at = addMillis(gateway, GatewayAttributes.UPSTREAM_CONNECT_MS, Activity.CONNECT, at);
    addMillis(gateway, GatewayAttributes.UPSTREAM_FIRST_TOKEN_MS, Activity.UPSTREAM, at);
  }

  private long addMillis(Node node, Attribute<Double> attribute, Activity activity, long from) {
    Long length = RequestPath.millis(node, attribute);
    if (length == null) {
      return from;
    }
    range.assign(activity, from, from + length, attribute.toString(), node);
    return from + length;
  }

  private void addSpans(Set<SpanType> types, Activity activity) {
    for (Node node : path.known()) {
      if (types.contains(node.type())) {
        add(activity, node);
      }
    }
  }

  private void add(Activity activity, Node node) {
    range.assign(
        activity, node.span().startNanos(), node.span().endNanos(), node.span().name(), node);
  }

  /**
   * Adds the stages of the proxy. Their time outside an engine's span counts as {@link
   * Activity#WIRE}. Without stages, the proxy only forwards, so its own span is the call.
   */
  private void addProxy() {
    Node proxy = path.proxy();
    Node prefill = path.prefillStage();
    Node decode = path.decodeStage();
    if (proxy != null) {
      boolean forwards = prefill == null && decode == null && path.answeringEngine() != null;
      add(forwards ? Activity.WIRE : Activity.PROXY, proxy);
    }
    if (prefill != null) {
      add(path.prefillEngine() == null ? Activity.PREFILL : Activity.WIRE, prefill);
    }
    if (decode != null) {
      Activity computing = prefill == null ? Activity.PREFILL : Activity.FIRST_DECODE;
      add(path.answeringEngine() == null ? computing : Activity.WIRE, decode);
    }
  }

  /**
   * Adds the parts of the engine that sends the tokens. After a remote prefill, that engine first
   * waits for the KV blocks. With chunked decode, the proxy sends a chunk to the client only when
   * the engine has completed the chunk.
   */
  private void addAnsweringEngine() {
    Node engine = path.answeringEngine();
    if (engine != null) {
      boolean remote = path.isDisaggregated();
      if (engine.above(PdSpans.CHUNKED_DECODE) != null) {
        add(Activity.FIRST_DECODE, engine);
      }
      addEngine(
          engine,
          remote ? Activity.TRANSFER : Activity.QUEUE,
          remote ? Activity.FIRST_DECODE : Activity.PREFILL);
    }
  }

  private void addPrefillEngine() {
    Node engine = path.prefillEngine();
    if (engine != null) {
      addEngine(engine, Activity.QUEUE, Activity.PREFILL);
    }
  }

  /**
   * Adds an engine's parts, backwards from the first token, because engines do not report the time
   * before they queue a request.
   */
  private void addEngine(Node engine, Activity waiting, Activity computing) {
    Long ttft = RequestPath.seconds(engine, GenAiAttributes.LATENCY_TIME_TO_FIRST_TOKEN);
    if (ttft == null) {
      add(computing, engine);
      return;
    }
    long firstToken = engine.span().startNanos() + ttft;
    range.assign(
        Activity.ENGINE, engine.span().startNanos(), firstToken, engine.span().name(), engine);
    Long computed = RequestPath.seconds(engine, GenAiAttributes.LATENCY_TIME_IN_MODEL_PREFILL);
    Long waited = RequestPath.seconds(engine, GenAiAttributes.LATENCY_TIME_IN_QUEUE);
    long scheduled = firstToken - Math.min(ttft, computed == null ? ttft : computed);
    String name = engine.span().name() + " " + GenAiAttributes.LATENCY_TIME_IN_MODEL_PREFILL;
    range.assign(computing, scheduled, firstToken, name, engine);
    if (waited != null) {
      long queued = Math.max(engine.span().startNanos(), scheduled - waited);
      String queue = engine.span().name() + " " + GenAiAttributes.LATENCY_TIME_IN_QUEUE;
      range.assign(waiting, queued, scheduled, queue, engine);
    }
  }
}
