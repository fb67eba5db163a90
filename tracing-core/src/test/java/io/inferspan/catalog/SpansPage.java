package io.inferspan.catalog;

import io.inferspan.semconv.Attribute;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.SpanKind;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;

/** Writes {@code SPANS.md} from the catalogue. */
final class SpansPage {

  private final StringBuilder page = new StringBuilder();
  private final Meanings meanings = Meanings.read();

  private SpansPage() {}

  static String write() {
    SpansPage page = new SpansPage();
    page.intro();
    page.names();
    page.folded();
    SpanCatalog.all().forEach(page::span);
    return page.page.toString();
  }

  private void intro() {
    page.append(
        """
        # Spans

        All spans that Inferspan creates, with their attributes. Most names are those of
        [llm-d](../samples/docs/from-llm-d.md), a stack for serving LLMs on Kubernetes. Only llm-d writes
        a few of the attributes; their descriptions say so.

        - llm-d has named its spans three times, so a span has one name per naming scheme.
          `INFERSPAN_SPAN_NAMES` selects the scheme. The sections of this page have the names of
          `llm-d-proposal`. A span that the proposal does not define has the name of the first llm-d
          release that creates it.
        - A part of a name in angle brackets, such as `<type>`, varies between spans.
        - Some attributes have a second key, marked *latest*: the key of OpenTelemetry's current GenAI
          conventions. `OTEL_SEMCONV_STABILITY_OPT_IN` selects the first key, the second or both.
        - Any span may also have `error.type`. The span status is `Error` or unset, never `Ok`.

        This page is generated from `src/main/catalogue`. To update it, run
        `mvn -pl tracing-core -am test -Dtest=SpansPageTest -Dspans.write=true -Dsurefire.failIfNoSpecifiedTests=false`.

        """);
  }

  private void names() {
    line("## Names");
    line("");
    line(
        "If a span has two kinds or instrumentation scopes, the second is that of `llm-d-0.9` and"
            + " later.");
    line("");
    line("| `llm-d-proposal` (default) | `llm-d-0.9` | `llm-d-current` | kind | scope |");
    line("|---|---|---|---|---|");
    for (SpanType type : SpanCatalog.all()) {
      line(
          "| %s | %s | %s | %s | %s |"
              .formatted(
                  name(type, SpanNaming.PROPOSAL),
                  name(type, SpanNaming.V0_9),
                  name(type, SpanNaming.CURRENT),
                  kinds(type),
                  scopes(type)));
    }
  }

  private void folded() {
    page.append(
        """

        ## Folded spans

        The [eBPF bridge](../ebpf-bridge/README.md) records system calls and CUDA calls. A request can
        make thousands of short calls. The first three calls of a kind, and calls of at least 1 ms, have
        spans of their own. All other calls of the kind share one span, whose name ends with `(folded)`,
        such as `cuda.launch (folded)`. This span lasts from the start of its first call to the end of its
        last call. The time spent in the calls is `inferspan.ebpf.duration.sum_ns`, and their number is
        `inferspan.ebpf.count`. Because of the separate name, folded spans do not distort statistics
        that a backend computes by span name. In TraceQL, the query language of Grafana Tempo:

        | query | result |
        |---|---|
        | `{ name = "cuda.launch" }` | single calls; the span's `duration` is the duration of the call |
        | `{ name =~ "cuda.launch.*" }` | single calls and folded spans |
        | `{ span.inferspan.ebpf.count > 100 }` | folded spans of more than 100 calls |
        | `{ span.inferspan.ebpf.duration.sum_ns > 5000000 }` | folded spans with more than 5 ms in calls |

        ## Common attributes of eBPF spans

        The spans `cuda.*`, `nccl.*`, `syscall.*`, `sched.*`, `tcp.*` and `ckp.*` have these attributes:

        """);
    table(KernelSpans.COMMON);
  }

  private static String name(SpanType type, SpanNaming naming) {
    return code(type.name(naming) + type.parameter());
  }

  private static String kinds(SpanType type) {
    SpanKind proposal = type.kind(SpanNaming.PROPOSAL);
    SpanKind current = type.kind(SpanNaming.CURRENT);
    return proposal == current ? proposal.name() : "%s, later %s".formatted(proposal, current);
  }

  private static String scopes(SpanType type) {
    Set<String> scopes = new TreeSet<>();
    for (SpanNaming naming : SpanNaming.values()) {
      scopes.add(code(type.component().scope(naming)));
    }
    return String.join(", ", scopes);
  }

  private void span(SpanType type) {
    line("");
    line("## " + type);
    line("");
    line(meanings.of(type));
    SpanType parent = type.parent();
    if (parent != null) {
      line("");
      line("Parent: " + code(parent.toString()) + ".");
    }
    line("");
    List<Attribute<?>> own = new ArrayList<>(type.attributes());
    if (own.containsAll(KernelSpans.COMMON)) {
      own.removeAll(KernelSpans.COMMON);
      line(
          "Has the [common attributes](#common-attributes-of-ebpf-spans)"
              + (own.isEmpty() ? "." : " and:"));
      line("");
    }
    if (!own.isEmpty()) {
      table(own);
    }
  }

  private void table(List<Attribute<?>> attributes) {
    line("| attribute | type | meaning |");
    line("|---|---|---|");
    attributes.forEach(this::attribute);
  }

  private void attribute(Attribute<?> attribute) {
    AttributeKey<?> latest = attribute.latestKey();
    String keys =
        code(attribute.key().getKey())
            + (latest == null ? "" : " (latest: " + code(latest.getKey()) + ")");
    String type = attribute.key().getType().name().toLowerCase(Locale.ROOT).replace("_array", "[]");
    line("| %s | %s | %s |".formatted(keys, type, meanings.of(attribute)));
  }

  private static String code(String text) {
    return "`" + text + "`";
  }

  private void line(String text) {
    page.append(text).append('\n');
  }
}
