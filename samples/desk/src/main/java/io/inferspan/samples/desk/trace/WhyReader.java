package io.inferspan.samples.desk.trace;

import io.inferspan.catalog.EngineSpans;
import io.inferspan.catalog.KernelSpans;
import io.inferspan.catalog.SpanNaming;
import io.inferspan.catalog.SpanType;
import io.inferspan.samples.desk.store.Status;
import io.inferspan.samples.desk.store.Summary.Why;
import io.inferspan.samples.desk.trace.Anatomy.Activity;
import io.inferspan.samples.desk.trace.Anatomy.Part;
import io.inferspan.semconv.CommonAttributes;
import io.inferspan.semconv.GenAiAttributes;
import io.inferspan.semconv.KernelAttributes;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Explains in one sentence what took a request's time, or what failed, and on which span. */
final class WhyReader {

  /** A second part is named only if it takes at least this share of the time to first token. */
  private static final double MIN_SHARE = 0.25;

  private static final int MAX_TEXT_LENGTH = 160;

  /** The packages and enclosing classes before the simple name of a Java class. */
  private static final Pattern QUALIFIED =
      Pattern.compile("^(?:[a-z]\\w*\\.)++(?:\\w+\\$)*+(?=[A-Z]\\w*$)");

  private final RequestPath path;
  private final TraceTree tree;

  private WhyReader(RequestPath path) {
    this.path = path;
    this.tree = path.tree();
  }

  static Why read(RequestPath path, Status status, @Nullable Long http, @Nullable Long tokens) {
    WhyReader reader = new WhyReader(path);
    return switch (status) {
      case OPEN -> reader.open();
      case BROKEN -> reader.broken();
      case ERROR -> reader.failed(http);
      case OK -> reader.slow(tokens);
    };
  }

  private Why open() {
    int spans = tree.ordered().size();
    return about(
        tree.top(),
        "still running: %d %s received, root span missing"
            .formatted(spans, spans == 1 ? "span" : "spans"));
  }

  private Why broken() {
    if (tree.orphans().isEmpty()) {
      return about(tree.top(), "the root span never arrived");
    }
    Node first =
        tree.orphans().stream()
            .filter(node -> !SpanTypes.isKernel(node.type()))
            .findFirst()
            .orElseGet(tree.orphans()::getFirst);
    SpanType above = first.type() == null ? null : first.type().parent();
    String missing =
        above == null
            ? "parent span"
            : "parent " + above.name(SpanNaming.PROPOSAL) + above.parameter();
    int others = tree.orphans().size() - 1;
    return about(
        first,
        "incomplete: the %s of %s never arrived (process died or still running)%s"
            .formatted(
                missing,
                place(first),
                others == 0
                    ? ""
                    : "; %d more %s no parent"
                        .formatted(others, others == 1 ? "span has" : "spans have")));
  }

  private Why failed(@Nullable Long http) {
    Node deepest = null;
    for (Node node : tree.ordered()) {
      boolean within = node.children().stream().anyMatch(child -> child.span().mark().error());
      if (node.span().mark().error() && !within && !SpanTypes.isKernel(node.type())) {
        deepest = deepest == null || isEarlier(node, deepest) ? node : deepest;
      }
    }
    if (deepest == null) {
      Node top = tree.top();
      return about(
          top,
          "%s answered with HTTP %s after %s"
              .formatted(place(top), http, millis(durationNanos(top))));
    }
    String type = deepest.detail().text(CommonAttributes.ERROR_TYPE);
    String text = deepest.detail().statusText();
    return about(
        deepest,
        "failed in %s after %s%s%s"
            .formatted(
                place(deepest),
                millis(deepest.span().endNanos() - tree.startNanos()),
                type == null ? "" : ": " + ShortText.of(simpleName(type), MAX_TEXT_LENGTH),
                text.isEmpty() ? "" : " (" + ShortText.of(text, MAX_TEXT_LENGTH) + ")"));
  }

  /** Returns the error type, which is shortened to the simple name for a Java class. */
  private static String simpleName(String type) {
    return QUALIFIED.matcher(type).replaceFirst("");
  }

  private static boolean isEarlier(Node node, Node other) {
    return node.span().endNanos() < other.span().endNanos();
  }

  private Why slow(@Nullable Long tokens) {
    Anatomy anatomy = AnatomyReader.read(path);
    return anatomy == null ? slowestSpan() : firstToken(anatomy, tokens);
  }

  /** Names the main parts of the time to the first token, and the gap between later tokens. */
  private Why firstToken(Anatomy anatomy, @Nullable Long tokens) {
    List<Cause> causes = causes(anatomy);
    StringBuilder text =
        new StringBuilder("first token after ").append(millis(anatomy.ttftNanos())).append(": ");
    text.append(causes.getFirst().text());
    if (causes.size() > 1 && causes.get(1).nanos >= MIN_SHARE * anatomy.ttftNanos()) {
      text.append(", ").append(causes.get(1).text());
    }
    if (tokens != null && tokens > 1) {
      long end = anatomy.beginNanos() + durationNanos(path.arrival());
      long rest = end - anatomy.beginNanos() - anatomy.ttftNanos();
      text.append("; then %d tokens, %s apart".formatted(tokens - 1, millis(rest / (tokens - 1))));
    }
    Node node = causes.getFirst().node;
    return about(node == null ? path.arrival() : node, text.toString());
  }

  /**
   * The total time of one kind of work before the first token, and the span with the largest part.
   */
  private record Cause(Activity activity, long nanos, @Nullable Node node) {
    String text() {
      String where = node == null ? "" : " on " + host(node);
      return switch (activity) {
        case QUEUE -> millis(nanos) + " queued" + where;
        case SCHEDULE -> millis(nanos) + " scheduling" + where;
        case KV_LOOKUP -> millis(nanos) + " KV lookup" + where;
        case CONNECT -> millis(nanos) + " connecting";
        case UPSTREAM -> millis(nanos) + " waiting for upstream";
        case PROXY -> millis(nanos) + " in the proxy";
        case WIRE -> millis(nanos) + " on the wire";
        case ENGINE -> millis(nanos) + " overhead" + where;
        case PREFILL -> millis(nanos) + " prefill" + where;
        case TRANSFER -> millis(nanos) + " KV transfer" + where;
        case FIRST_DECODE -> millis(nanos) + " first decode step" + where;
        case OTHER -> millis(nanos) + " not covered by spans";
      };
    }
  }

  /** Returns the causes, longest first. */
  private static List<Cause> causes(Anatomy anatomy) {
    Map<Activity, List<Part>> byActivity = new EnumMap<>(Activity.class);
    for (Part part : anatomy.parts()) {
      byActivity.merge(part.activity(), List.of(part), WhyReader::joined);
    }
    return byActivity.entrySet().stream()
        .map(
            each ->
                new Cause(
                    each.getKey(),
                    each.getValue().stream().mapToLong(Part::nanos).sum(),
                    each.getValue().stream()
                        .max(Comparator.comparingLong(Part::nanos))
                        .orElseThrow()
                        .node()))
        .sorted(Comparator.comparingLong(Cause::nanos).reversed())
        .toList();
  }

  private static List<Part> joined(List<Part> some, List<Part> more) {
    return java.util.stream.Stream.concat(some.stream(), more.stream()).toList();
  }

  /** Names the span with the most own time, for requests without a first token. */
  private Why slowestSpan() {
    Node top = tree.top();
    Node slowest = top;
    long most = -1;
    for (Node node : tree.ordered()) {
      long self = ownNanos(node);
      if (self > most) {
        slowest = node;
        most = self;
      }
    }
    return about(
        slowest,
        "%s of %s in %s%s"
            .formatted(millis(most), millis(durationNanos(top)), place(slowest), queued(slowest)));
  }

  /** Returns the span's own time; -1 for the eBPF bridge's spans, except phases of a cold start. */
  private static long ownNanos(Node node) {
    if (!SpanTypes.isKernel(node.type())) {
      return node.selfNanos();
    }
    boolean part = node.type() == KernelSpans.COLD_START_PART;
    Double millis = part ? node.detail().number(KernelAttributes.OWN_MS) : null;
    return millis == null ? -1 : Math.round(millis * 1e6);
  }

  private static String queued(Node node) {
    Long queued =
        node.type() == EngineSpans.LLM_REQUEST
            ? RequestPath.seconds(node, GenAiAttributes.LATENCY_TIME_IN_QUEUE)
            : null;
    return queued == null || 2 * queued < durationNanos(node)
        ? ""
        : ", " + millis(queued) + " of it queued";
  }

  private static Why about(Node node, String sentence) {
    return new Why(sentence, node.span().id());
  }

  private static long durationNanos(Node node) {
    return node.span().endNanos() - node.span().startNanos();
  }

  private static String place(Node node) {
    return ShortText.of(node.span().name(), MAX_TEXT_LENGTH) + " on " + host(node);
  }

  private static String host(Node node) {
    return ShortText.of(node.span().origin().readable(), MAX_TEXT_LENGTH);
  }

  private static String millis(long nanos) {
    String format = nanos < 1_000_000 ? "%.3f ms" : nanos < 100_000_000 ? "%.1f ms" : "%.0f ms";
    return String.format(Locale.ROOT, format, nanos / 1e6);
  }
}
