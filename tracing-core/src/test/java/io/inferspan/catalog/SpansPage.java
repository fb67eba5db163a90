package io.inferspan.catalog;

import io.inferspan.semconv.Attribute;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.SpanKind;
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
    line("# Spans");
    line("");
    line(
        "Every span and every attribute that Inferspan writes, and few that only llm-d does; from");
    line("`io.inferspan.catalog`; to renew this page, run");
    line(
        "`mvn -pl tracing-core -am test -Dtest=SpansPageTest -Dspans.write=true"
            + " -Dsurefire.failIfNoSpecifiedTests=false`.");
    line("");
    line(
        "`INFERSPAN_SPAN_NAMES` chooses the generation of names. Where the proposal names no"
            + " span,");
    line("its column shows the name under which llm-d first had it. Any span may also carry");
    line("`error.type`, and its status is only ever set to Error.");
    line("");
  }

  private void names() {
    line("## Names");
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
    line("");
    line("## Folded spans");
    line("");
    line("A request can make thousands of short kernel and CUDA calls. From the fourth of a kind");
    line("on, calls shorter than 1 ms share one span, whose name ends with `(folded)`:");
    line(
        "`cuda.launch (folded)`. Its duration is no call's: the span starts with the first of these");
    line(
        "calls and ends with the last. The time in the calls is `inferspan.ebpf.duration.sum_ns`,");
    line(
        "their number `inferspan.ebpf.count`. The names differ so that what a backend computes by");
    line(
        "span name (span metrics, `quantile_over_time(duration, …)`) is not distorted. In TraceQL:");
    line("");
    line("| query | result |");
    line("|---|---|");
    line("| `{ name = \"cuda.launch\" }` | single calls; `duration` is the call's |");
    line("| `{ name =~ \"cuda.launch.*\" }` | all of them |");
    line("| `{ span.inferspan.ebpf.count > 100 }` | folded spans of more than 100 calls |");
    line("| `{ span.inferspan.ebpf.duration.sum_ns > 5000000 }` | more than 5 ms in such calls |");
  }

  private static String name(SpanType type, SpanNaming naming) {
    return code(type.name(naming) + type.parameter());
  }

  private static String kinds(SpanType type) {
    SpanKind proposal = type.kind(SpanNaming.PROPOSAL);
    SpanKind current = type.kind(SpanNaming.CURRENT);
    return proposal == current ? proposal.name() : "%s, then %s".formatted(proposal, current);
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
      line("Under " + code(parent.toString()) + ".");
    }
    line("");
    line("| attribute | type | meaning |");
    line("|---|---|---|");
    type.attributes().forEach(this::attribute);
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
