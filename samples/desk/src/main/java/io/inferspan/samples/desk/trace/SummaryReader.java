package io.inferspan.samples.desk.trace;

import io.inferspan.catalog.EppSpans;
import io.inferspan.catalog.SpanNaming;
import io.inferspan.catalog.SpanType;
import io.inferspan.samples.desk.otlp.SpanDetail;
import io.inferspan.samples.desk.store.EngineUse;
import io.inferspan.samples.desk.store.Status;
import io.inferspan.samples.desk.store.Summariser;
import io.inferspan.samples.desk.store.Summary;
import io.inferspan.samples.desk.store.TraceSpans;
import io.inferspan.semconv.Attribute;
import io.inferspan.semconv.CommonAttributes;
import io.inferspan.semconv.EppAttributes;
import io.inferspan.semconv.GenAiAttributes;
import io.inferspan.semconv.KernelAttributes;
import io.inferspan.semconv.KvCacheAttributes;
import io.inferspan.semconv.PdAttributes;
import java.util.List;
import java.util.Objects;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Summarises a request from its spans. */
public final class SummaryReader implements Summariser {

  private static final int FIRST_ERROR_STATUS = 400;
  private static final int MAX_NAME_LENGTH = 256;
  private static final int MAX_SERVICES = 16;
  private static final int MAX_ENGINES = 16;

  /** Creates a reader of spans of the catalogue and of other instrumentation. */
  public SummaryReader() {}

  @Override
  public @Nullable Summary summarise(TraceSpans trace) {
    TraceTree tree = TraceTree.of(trace.spans());
    SpanType top = tree.top().type();
    return top == EppSpans.STARTUP || SpanTypes.isStep(top)
        ? null
        : read(trace, tree, new RequestPath(tree));
  }

  static Summary read(TraceSpans trace, TraceTree tree, RequestPath path) {
    boolean missing = tree.root() == null || !tree.orphans().isEmpty();
    Node top = tree.top();
    Long http = httpStatus(top, path);
    Status status = status(tree, http, missing && trace.quiet());
    return new Summary(
        0,
        trace.id(),
        head(tree, top),
        new Summary.Outcome(
            status, missing, errorType(tree, status), http, ttft(path), tokens(path)),
        model(path, top),
        requestId(path),
        DecisionReader.read(path),
        kvHitRatio(path),
        counts(tree, trace.cut()),
        path.engines().stream().limit(MAX_ENGINES).map(SummaryReader::use).toList(),
        WhyReader.read(path, status, http, tokens(path)));
  }

  private static Status status(TraceTree tree, @Nullable Long http, boolean broken) {
    if (broken) {
      return Status.BROKEN;
    }
    Node root = tree.root();
    if (root == null) {
      return Status.OPEN;
    }
    boolean failed = root.span().mark().error() || (http != null && http >= FIRST_ERROR_STATUS);
    return failed ? Status.ERROR : Status.OK;
  }

  private static Summary.Head head(TraceTree tree, Node top) {
    List<String> services =
        tree.ordered().stream()
            .map(node -> node.span().origin().service())
            .distinct()
            .limit(MAX_SERVICES)
            .toList();
    boolean whole = tree.root() != null;
    return new Summary.Head(
        ShortText.of(tree.root() == null ? rootName(top) : top.span().name(), MAX_NAME_LENGTH),
        top.span().origin().service(),
        services,
        whole ? top.span().startNanos() : tree.startNanos(),
        whole ? top.span().endNanos() : tree.endNanos());
  }

  /** Returns the name that the missing root span will have, or that of the first span. */
  private static String rootName(Node first) {
    SpanType type = first.type();
    SpanType above = type == null ? null : type.parent();
    if (type == null || above == null || !above.parameter().isEmpty()) {
      return first.span().name();
    }
    SpanType root = above;
    while (root.parent() != null && root.parent().parameter().isEmpty()) {
      root = root.parent();
    }
    SpanNaming naming =
        Stream.of(SpanNaming.values())
            .filter(each -> type.name(each).equals(first.span().name()))
            .findFirst()
            .orElse(SpanNaming.PROPOSAL);
    return root.name(naming);
  }

  private static EngineUse use(Node engine) {
    return new EngineUse(
        engine.span().origin().process(),
        engine.span().id(),
        engine.span().startNanos(),
        engine.span().endNanos());
  }

  private static @Nullable String errorType(TraceTree tree, Status status) {
    if (status == Status.OK || status == Status.OPEN) {
      return null;
    }
    return tree.ordered().stream()
        .filter(node -> node.span().mark().error())
        .map(node -> node.detail().text(CommonAttributes.ERROR_TYPE))
        .filter(Objects::nonNull)
        .findFirst()
        .map(type -> ShortText.of(type, MAX_NAME_LENGTH))
        .orElse(null);
  }

  private static @Nullable Long httpStatus(Node top, RequestPath path) {
    Node gateway = path.gateway();
    Long reported =
        gateway == null ? null : gateway.detail().count(CommonAttributes.HTTP_RESPONSE_STATUS_CODE);
    return reported == null
        ? top.detail().count(CommonAttributes.HTTP_RESPONSE_STATUS_CODE)
        : reported;
  }

  private static @Nullable Double ttft(RequestPath path) {
    Long nanos = path.ttftNanos();
    return nanos == null ? null : (Double) (nanos / 1e6);
  }

  private static @Nullable Long tokens(RequestPath path) {
    Long ofAllChunks = first(path, SpanDetail::count, PdAttributes.CHUNKED_TOKENS);
    if (ofAllChunks != null) {
      return ofAllChunks;
    }
    Node engine = path.answeringEngine();
    Long atEngine =
        engine == null ? null : engine.detail().count(GenAiAttributes.USAGE_COMPLETION_TOKENS);
    return atEngine == null
        ? first(path, SpanDetail::count, GenAiAttributes.USAGE_COMPLETION_TOKENS)
        : atEngine;
  }

  private static @Nullable String model(RequestPath path, Node top) {
    String model = first(path, SpanDetail::text, GenAiAttributes.REQUEST_MODEL);
    if (model == null) {
      model = first(path, SpanDetail::text, EppAttributes.TARGET_MODEL);
    }
    // The span of a tracing client has the model under the same key.
    if (model == null) {
      model = top.detail().text(GenAiAttributes.REQUEST_MODEL);
    }
    return model == null ? null : ShortText.of(model, MAX_NAME_LENGTH);
  }

  private static @Nullable String requestId(RequestPath path) {
    String id = first(path, SpanDetail::text, GenAiAttributes.REQUEST_ID);
    if (id == null) {
      id = first(path, SpanDetail::text, PdAttributes.REQUEST_ID);
    }
    return id == null ? null : ShortText.of(id, MAX_NAME_LENGTH);
  }

  private static @Nullable Double kvHitRatio(RequestPath path) {
    Node scores = path.scores();
    Double ratio =
        scores == null ? null : scores.detail().number(KvCacheAttributes.BLOCK_HIT_RATIO);
    Node decision = path.decision();
    return ratio == null && decision != null
        ? decision.detail().number(EppAttributes.CACHE_HIT_RATIO)
        : ratio;
  }

  /** Returns the value of the first span that has the attribute, or null. */
  private static <A, V> @Nullable V first(
      RequestPath path, BiFunction<SpanDetail, Attribute<?>, @Nullable V> how, Attribute<A> what) {
    for (Node node : path.known()) {
      V value = how.apply(node.detail(), what);
      if (value != null) {
        return value;
      }
    }
    return null;
  }

  private static Summary.Counts counts(TraceTree tree, long cut) {
    int errors = 0;
    long folded = 0;
    long lostInKernel = 0;
    for (Node node : tree.ordered()) {
      errors += node.span().mark().error() ? 1 : 0;
      SpanType type = node.type();
      if (SpanTypes.isKernel(type)) {
        Long count = node.detail().count(KernelAttributes.COUNT);
        folded += count == null ? 0 : Math.max(0, count);
        Long lost = node.detail().count(KernelAttributes.DROPPED);
        // A span reports all losses during its time, so many spans report the same loss.
        lostInKernel = Math.max(lostInKernel, lost == null ? 0 : lost);
      }
    }
    return new Summary.Counts(tree.ordered().size(), errors, cut + lostInKernel, folded);
  }
}
