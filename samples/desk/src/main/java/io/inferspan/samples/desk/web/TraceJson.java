package io.inferspan.samples.desk.web;

import io.inferspan.samples.desk.otlp.SpanDetail;
import io.inferspan.samples.desk.otlp.StoredSpan;
import io.inferspan.samples.desk.store.Bounds;
import io.inferspan.samples.desk.store.Summary;
import io.inferspan.samples.desk.trace.Anatomy;
import io.inferspan.samples.desk.trace.BatchPart;
import io.inferspan.samples.desk.trace.Flame;
import io.inferspan.samples.desk.trace.Fold;
import io.inferspan.samples.desk.trace.Node;
import io.inferspan.samples.desk.trace.PdTimeline;
import io.inferspan.samples.desk.trace.TraceTree;
import io.inferspan.samples.desk.trace.TraceView;
import io.inferspan.semconv.KernelAttributes;
import io.vertx.core.buffer.Buffer;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Writes one trace as JSON. */
final class TraceJson {

  private static final List<String> KINDS =
      List.of("unspecified", "internal", "server", "client", "producer", "consumer");
  private static final HexFormat HEX = HexFormat.of();

  private final TraceView view;
  private final @Nullable Flame stacks;
  private final boolean hasTimeline;
  private final TraceTree tree;

  private TraceJson(TraceView view, @Nullable Flame stacks, boolean hasTimeline) {
    this.view = view;
    this.stacks = stacks;
    this.hasTimeline = hasTimeline;
    this.tree = view.tree();
  }

  static Buffer of(TraceView view, @Nullable Flame stacks, boolean hasTimeline) {
    return Json.object(new TraceJson(view, stacks, hasTimeline)::write);
  }

  private void write(Json json) {
    List<Node> all = tree.ordered();
    List<Node> shown = all.subList(0, Math.min(Bounds.DEFAULT_SPANS_PER_TRACE, all.size()));
    long cut = view.cut() + all.size() - shown.size();
    json.putObject("summary", inner -> SummaryJson.write(inner, view.summary()))
        .putList("spans", shown, this::span)
        .putIf("timeline", hasTimeline);
    if (cut > 0) {
      json.put("cut", (Long) cut);
    }
    putIf(json, "anatomy", view.anatomy(), this::anatomy);
    putIf(json, "pd", view.pd(), this::pd);
    if (!view.parts().isEmpty()) {
      json.putList("parts", view.parts(), this::batchPart);
    }
    if (!view.overlaps().isEmpty()) {
      json.putList("batch", view.overlaps(), TraceJson::overlap);
    }
    putIf(json, "flame", view.flame(), TraceJson::flame);
    putIf(json, "stacks", stacks, TraceJson::stack);
  }

  private static <T> void putIf(
      Json json, String name, @Nullable T value, Json.ItemWriter<T> writer) {
    if (value != null) {
      json.putObject(name, inner -> writer.write(inner, value));
    }
  }

  private void span(Json json, Node node) {
    StoredSpan span = node.span();
    SpanDetail detail = node.detail();
    json.put("id", HEX.toHexDigits(span.id()))
        .put("parentId", span.isRoot() ? null : HEX.toHexDigits(span.parentId()))
        .putIf("orphan", node.isOrphan())
        .put("name", span.name())
        .put("service", span.origin().service())
        .put("scope", span.origin().scope())
        .put("kind", KINDS.get(span.mark().kind()))
        .put("atMs", at(span.startNanos()))
        .putMillis("durationMs", (Long) (span.endNanos() - span.startNanos()))
        .putIf("error", span.mark().error())
        .put("statusText", detail.statusText().isEmpty() ? null : detail.statusText())
        .putMap("attributes", detail.attributes())
        .putList("links", detail.links(), TraceJson::link)
        .putList("events", detail.events(), this::event);
    putIf(json, "fold", Fold.read(node), TraceJson::fold);
    Long lost = detail.count(KernelAttributes.DROPPED);
    long dropped = detail.dropped() + (lost == null ? 0 : Math.max(0, lost));
    json.put("dropped", dropped == 0 ? null : (Long) dropped)
        .put("coverage", detail.number(KernelAttributes.COVERAGE));
  }

  private Double at(long nanos) {
    return tree.atMillis(nanos);
  }

  private static void link(Json json, SpanDetail.Link link) {
    json.put("traceId", link.trace().toString())
        .put("spanId", HEX.toHexDigits(link.spanId()))
        .putMap("attributes", link.attributes());
  }

  private void event(Json json, SpanDetail.Event event) {
    json.put("name", event.name())
        .put("atMs", at(event.epochNanos()))
        .putMap("attributes", event.attributes());
  }

  private static void fold(Json json, Fold fold) {
    json.put("count", (Long) fold.count())
        .putMillis("sumMs", fold.sumNanos())
        .putMillis("minMs", fold.minNanos())
        .putMillis("p50Ms", fold.p50Nanos())
        .putMillis("p99Ms", fold.p99Nanos())
        .putMillis("maxMs", fold.maxNanos())
        .putMillis("firstMs", fold.firstNanos())
        .putMillis("lastMs", fold.lastNanos());
  }

  private void anatomy(Json json, Anatomy anatomy) {
    json.putMillis("ttftMs", (Long) anatomy.ttftNanos())
        .putMillis("engineTtftMs", anatomy.engineTtftNanos())
        .putMillis("sumMs", (Long) anatomy.sumNanos())
        .putList("parts", anatomy.parts(), this::part);
  }

  private void part(Json json, Anatomy.Part part) {
    json.put("key", part.activity().key())
        .putMillis("ms", (Long) part.nanos())
        .put("atMs", at(part.startNanos()))
        .put("source", part.source().isEmpty() ? null : part.source())
        .put("spanId", part.node() == null ? null : HEX.toHexDigits(part.node().span().id()));
  }

  private void pd(Json json, PdTimeline pd) {
    if (pd.decision() != null) {
      json.put("decision", pd.decision().decision())
          .put("route", pd.decision().route())
          .put("reason", pd.decision().reason());
    }
    putIf(json, "prefill", pd.prefill(), this::stage);
    putIf(json, "decode", pd.decode(), this::stage);
    json.putMillis("transferMs", pd.transferNanos());
    Long firstToken = pd.firstTokenNanos();
    json.put("firstTokenAtMs", firstToken == null ? null : at(firstToken))
        .putMillis("overheadMs", pd.overheadNanos());
  }

  private void stage(Json json, PdTimeline.Stage stage) {
    json.put("atMs", at(stage.startNanos()))
        .putMillis("ms", (Long) (stage.endNanos() - stage.startNanos()))
        .put("pod", stage.pod());
  }

  private static void overlap(Json json, TraceView.Overlap overlap) {
    json.put("traceId", overlap.other().traceId().toString())
        .put("name", overlap.other().head().name())
        .put("model", overlap.other().model())
        .putMillis("overlapMs", (Long) overlap.overlapNanos())
        .put("spanId", HEX.toHexDigits(overlap.spanId()))
        .put("by", overlap.linked() ? "link" : "overlap");
  }

  private void batchPart(Json json, BatchPart part) {
    json.putList("phases", part.phases(), this::phase);
    putIf(json, "steps", part.steps(), TraceJson::steps);
    json.putList("neighbours", part.neighbours(), TraceJson::neighbour);
  }

  private void phase(Json json, BatchPart.Phase phase) {
    json.put("name", phase.name())
        .put("spanId", HEX.toHexDigits(phase.spanId()))
        .put("atMs", at(phase.startNanos()))
        .putMillis("ms", (Long) (phase.endNanos() - phase.startNanos()))
        .put("steps", phase.steps())
        .put("tokens", phase.tokens())
        .putMillis("shareMs", phase.shareNanos())
        .putMillis("busyMs", phase.busyNanos())
        .putMillis("boundMs", phase.boundNanos())
        .put("coverage", phase.coverage())
        .put("model", phase.model());
  }

  private static void steps(Json json, BatchPart.Steps steps) {
    BatchPart.Waits waits = steps.waits();
    json.put("ran", (Long) steps.ran())
        .put("seen", (Long) steps.seen())
        .put("mostMembers", (Long) steps.mostMembers())
        .put("mostUntraced", (Long) steps.mostUntraced())
        .put("queuedBehind", (Long) waits.queuedBehind())
        .put("stalls", (Long) waits.stalls())
        .putMillis("stallMs", waits.stallNanos())
        .put("leftOut", (Long) waits.leftOut())
        .putMillis("leftOutMs", (Long) waits.leftOutNanos())
        .putMillis("untracedMs", (Long) waits.untracedNanos());
  }

  private static void neighbour(Json json, BatchPart.Neighbour neighbour) {
    Summary other = neighbour.other();
    json.put("traceId", neighbour.traceId().toString())
        .put("requestId", other == null ? null : other.requestId())
        .put("name", other == null ? null : other.head().name())
        .put("model", other == null ? null : other.model())
        .put("steps", (Long) neighbour.steps())
        .put("promptTokens", (Long) neighbour.promptTokens())
        .putMillis("waitMs", (Long) neighbour.waitNanos());
  }

  private static void flame(Json json, Flame flame) {
    json.put("name", flame.name())
        .put("kind", flame.kind().key())
        .putMillis("value", (Long) flame.total())
        .putList("children", flame.children(), TraceJson::flame);
  }

  private static void stack(Json json, Flame flame) {
    json.put("name", flame.name())
        .put("kind", flame.kind().key())
        .put("value", (Long) flame.total())
        .putList("children", flame.children(), TraceJson::stack);
  }
}
