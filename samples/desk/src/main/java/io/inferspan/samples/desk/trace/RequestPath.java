package io.inferspan.samples.desk.trace;

import io.inferspan.catalog.EngineSpans;
import io.inferspan.catalog.EppSpans;
import io.inferspan.catalog.GatewaySpans;
import io.inferspan.catalog.KvCacheSpans;
import io.inferspan.catalog.PdSpans;
import io.inferspan.catalog.SpanType;
import io.inferspan.semconv.Attribute;
import io.inferspan.semconv.EppAttributes;
import io.inferspan.semconv.GenAiAttributes;
import io.inferspan.semconv.ResponseAttributes;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Finds the spans of the gateway, the proxy, the engines and other components of a request, and the
 * time to first token.
 */
final class RequestPath {

  private static final double NANOS_PER_SECOND = 1e9;
  private static final double NANOS_PER_MILLI = 1e6;

  private final TraceTree tree;
  private final List<Node> known = new ArrayList<>();
  private final List<Node> engines = new ArrayList<>();
  private @Nullable Node gateway;
  private @Nullable Node proxy;
  private @Nullable Node prefillStage;
  private @Nullable Node decodeStage;
  private @Nullable Node decision;
  private @Nullable Node preRequest;
  private @Nullable Node scores;
  private @Nullable Node prefillEngine;
  private @Nullable Node answeringEngine;

  RequestPath(TraceTree tree) {
    this.tree = tree;
    for (Node node : tree.ordered()) {
      SpanType type = node.type();
      if (type != null && !SpanTypes.isKernel(type)) {
        known.add(node);
        note(node, type);
      }
    }
    engines.forEach(this::noteEngine);
  }

  private void note(Node node, SpanType type) {
    if (type == GatewaySpans.REQUEST) {
      gateway = first(gateway, node);
    } else if (type == PdSpans.REQUEST) {
      proxy = last(proxy, node);
    } else if (type == PdSpans.PREFILL) {
      prefillStage = last(prefillStage, node);
    } else if (type == PdSpans.DECODE) {
      decodeStage = last(decodeStage, node);
    } else if (type == PdSpans.CHUNKED_DECODE && node.above(PdSpans.DECODE) == null) {
      decodeStage = last(decodeStage, node);
    } else if (type == EppSpans.PREREQUEST) {
      preRequest = last(preRequest, node);
    } else if (type == KvCacheSpans.GET_SCORES) {
      scores = last(scores, node);
    } else if (type == EngineSpans.LLM_REQUEST) {
      engines.add(node);
    } else if (type == EppSpans.PROFILE_HANDLER || type == EppSpans.DISAGG_PROFILE_HANDLER) {
      noteDecision(node);
    }
  }

  /** Notes a decision. The handler runs several times; the last decision with a reason counts. */
  private void noteDecision(Node node) {
    boolean reasoned = node.detail().text(EppAttributes.DECISION_REASON) != null;
    Node before = decision;
    if (node.detail().text(EppAttributes.DECISION) == null) {
      return;
    }
    boolean beforeReasoned =
        before != null && before.detail().text(EppAttributes.DECISION_REASON) != null;
    if (reasoned || !beforeReasoned) {
      decision = last(before, node);
    }
  }

  private void noteEngine(Node node) {
    Node stage = node.above(PdSpans.PREFILL, PdSpans.DECODE);
    if (stage != null && stage.type() == PdSpans.PREFILL) {
      prefillEngine = last(prefillEngine, node);
    } else {
      answeringEngine =
          isLaterChunk(node) ? first(answeringEngine, node) : last(answeringEngine, node);
    }
  }

  /** Returns whether an engine's span is of the same chunked decode as the answering engine's. */
  private boolean isLaterChunk(Node node) {
    Node chunks = node.above(PdSpans.CHUNKED_DECODE);
    return chunks != null
        && answeringEngine != null
        && chunks.equals(answeringEngine.above(PdSpans.CHUNKED_DECODE));
  }

  private static Node first(@Nullable Node before, Node node) {
    return before == null || Node.BY_START.compare(node, before) < 0 ? node : before;
  }

  private static Node last(@Nullable Node before, Node node) {
    return before == null || Node.BY_START.compare(node, before) >= 0 ? node : before;
  }

  TraceTree tree() {
    return tree;
  }

  /** Returns the spans whose type is in the catalogue, without those of the eBPF bridge. */
  List<Node> known() {
    return known;
  }

  List<Node> engines() {
    return engines;
  }

  @Nullable Node gateway() {
    return gateway;
  }

  @Nullable Node proxy() {
    return proxy;
  }

  @Nullable Node prefillStage() {
    return prefillStage;
  }

  @Nullable Node decodeStage() {
    return decodeStage;
  }

  @Nullable Node decision() {
    return decision;
  }

  @Nullable Node preRequest() {
    return preRequest;
  }

  /** Returns the span of the lookup in the KV-cache index. */
  @Nullable Node scores() {
    return scores;
  }

  @Nullable Node prefillEngine() {
    return prefillEngine;
  }

  /**
   * Returns the span of the engine that generated the client's tokens; with chunked decode, that of
   * the first chunk.
   */
  @Nullable Node answeringEngine() {
    return answeringEngine;
  }

  /** Returns whether prefill was sent to another pod, even if it failed there. */
  boolean isDisaggregated() {
    return prefillStage != null;
  }

  /**
   * Returns the span whose start is the request's arrival, from which the time to first token is
   * measured.
   */
  Node arrival() {
    if (gateway != null) {
      return gateway;
    }
    return proxy != null ? proxy : tree.top();
  }

  /** Returns the time from the request's arrival to its first token, or null if no span has it. */
  @Nullable Long ttftNanos() {
    Node arrival = arrival();
    Long measured = nanos(arrival, ResponseAttributes.FIRST_TOKEN_MS, NANOS_PER_MILLI);
    if (measured == null && arrival.type() != EngineSpans.LLM_REQUEST) {
      measured = nanos(arrival, GenAiAttributes.LATENCY_TIME_TO_FIRST_TOKEN, NANOS_PER_SECOND);
    }
    if (measured != null) {
      return measured;
    }
    Node engine = answeringEngine;
    Long atEngine = engineTtftNanos();
    return engine == null || atEngine == null
        ? null
        : (Long) Math.max(0, engine.span().startNanos() + atEngine - arrival.span().startNanos());
  }

  /** Returns the time from the arrival at the engine to its first token, or null. */
  @Nullable Long engineTtftNanos() {
    return answeringEngine == null
        ? null
        : nanos(answeringEngine, GenAiAttributes.LATENCY_TIME_TO_FIRST_TOKEN, NANOS_PER_SECOND);
  }

  /** Returns a duration attribute in nanoseconds, or null if it is absent or negative. */
  static @Nullable Long nanos(Node node, Attribute<Double> attribute, double nanosPerUnit) {
    Double value = node.detail().number(attribute);
    return value == null || value < 0 ? null : (Long) Math.round(value * nanosPerUnit);
  }

  static @Nullable Long seconds(Node node, Attribute<Double> attribute) {
    return nanos(node, attribute, NANOS_PER_SECOND);
  }

  static @Nullable Long millis(Node node, Attribute<Double> attribute) {
    return nanos(node, attribute, NANOS_PER_MILLI);
  }
}
